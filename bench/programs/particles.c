// particles.c: particles that repel each other at short range, in cells, so that
// each looks at its neighbours only. Whoever leaves its cell is moved under the
// locks of both cells; the energy is collected in a critical section, once per
// thread and step.
#include "app.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { SIDE = 32, CELLS = SIDE * SIDE, COUNT = 8 * CELLS, MOST = 64, STEPS = 70 };

struct particle {
	double x, y, vx, vy, fx, fy;
};

struct cell {
	omp_lock_t lock;
	int count, who[MOST];
};

static struct particle part[COUNT];
static struct cell cells[CELLS];

static int cell_of(const struct particle *p)
{
	return (int)p->y % SIDE * SIDE + (int)p->x % SIDE;
}

static void setup(void)
{
	for (int c = 0; c < CELLS; c++)
		omp_init_lock(&cells[c].lock);
}

static void place(void)
{
	unsigned seed = 5;
	for (int c = 0; c < CELLS; c++)
		cells[c].count = 0;
	for (int i = 0; i < COUNT; i++) {
		struct particle *p = &part[i];
		seed = seed * 1103515245u + 12345u;
		p->x = (i % 90 + 0.5) * SIDE / 91;
		p->y = (i / 90 + 0.5) * SIDE / 92;
		p->vx = 0.5 * ((seed >> 8 & 1023) / 511.5 - 1);
		p->vy = 0.5 * ((seed >> 18 & 1023) / 511.5 - 1);
		struct cell *c = &cells[cell_of(p)];
		c->who[c->count++] = i;
	}
}

// force on p from all in one cell, which may lie beyond the edge; returns the
// potential. The force falls to zero at distance 1, the side of a cell.
static double force(struct particle *p, int row, int column)
{
	double energy = 0;
	const struct cell *c = &cells[(row + SIDE) % SIDE * SIDE + (column + SIDE) % SIDE];
	for (int k = 0; k < c->count; k++) {
		const struct particle *q = &part[c->who[k]];
		double dx = p->x - q->x, dy = p->y - q->y;
		dx -= SIDE * nearbyint(dx / SIDE);
		dy -= SIDE * nearbyint(dy / SIDE);
		double d2 = dx * dx + dy * dy;
		if (d2 >= 1 || q == p)
			continue;
		double w = 1 - d2;
		p->fx += 40 * w * dx;
		p->fy += 40 * w * dy;
		energy += 5 * w * w; // half of 10 w^2: each pair is met twice
	}
	return energy;
}

static void leave(int i, int from, int to)
{
	struct cell *c = &cells[from];
	omp_set_lock(&c->lock);
	for (int k = 0; k < c->count; k++)
		if (c->who[k] == i)
			c->who[k] = c->who[--c->count];
	omp_unset_lock(&c->lock);
	c = &cells[to];
	omp_set_lock(&c->lock);
	if (c->count < MOST)
		c->who[c->count++] = i;
	omp_unset_lock(&c->lock);
}

// step moves all by one step and returns the energy before it.
static double step(double dt)
{
	double energy = 0;
#pragma omp parallel
	{
		double own = 0;
#pragma omp for schedule(dynamic, 256)
		for (int i = 0; i < COUNT; i++) {
			struct particle *p = &part[i];
			int row = (int)p->y % SIDE, column = (int)p->x % SIDE;
			p->fx = p->fy = 0;
			own += 0.5 * (p->vx * p->vx + p->vy * p->vy);
			for (int r = -1; r <= 1; r++)
				for (int c = -1; c <= 1; c++)
					own += force(p, row + r, column + c);
		}
#pragma omp critical(energy)
		energy += own;
#pragma omp for
		for (int i = 0; i < COUNT; i++) {
			struct particle *p = &part[i];
			int from = cell_of(p);
			p->vx += dt * p->fx;
			p->vy += dt * p->fy;
			p->x = fmod(p->x + dt * p->vx + SIDE, SIDE);
			p->y = fmod(p->y + dt * p->vy + SIDE, SIDE);
			if (cell_of(p) != from)
				leave(i, from, cell_of(p));
		}
	}
	return energy;
}

// work returns by how much the energy has changed, as a part of it; -1 if a
// particle is lost.
static double work(void)
{
	double first = 0, last = 0;
	place();
	for (int k = 0; k < STEPS; k++) {
		last = step(0.001);
		if (k == 0)
			first = last;
	}
	long held = 0;
	for (int c = 0; c < CELLS; c++)
		held += cells[c].count;
	return held == COUNT ? fabs(last - first) / first : -1;
}

static int right(double change) { return change >= 0 && change < 0.01; }
