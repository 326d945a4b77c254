/* Tasks as one would write them, each construct counting for itself who creates
 * and who executes it. Prints lines "what thread count" as testbin.ParseCounts
 * reads them, and "line:NAME 0 LINE" for the place of each construct.
 * Usage: tasks WHAT N, WHAT one of fib queens sort deep kinds groups, or: tasks all */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	FIB_A, FIB_B, QUEENS, SORT, MERGE, DEEP, IF0, FINAL, UNTIED, DEPEND_OUT, DEPEND_IN, PRIORITY, MERGEABLE,
	DETACH, OUTER, INNER, IN_FINAL, LOOP_TASKS, TASKWAITS, TASKGROUPS, KINDS
};
static const char *names[] = {
	"fib_a", "fib_b", "queens", "sort", "merge", "deep", "if0", "final", "untied", "depend_out", "depend_in", "priority",
	"mergeable", "detach", "outer", "inner", "in_final", "loop_tasks", "taskwaits", "taskgroups"
};

#define THREADS 64
static struct { unsigned long created[KINDS], executed[KINDS]; char pad[128]; } counts[THREADS];
static int line_of[KINDS];

/* Stands one line above the construct. */
#define CREATE(k) (counts[omp_get_thread_num()].created[k]++, line_of[k] = __LINE__ + 1)
#define EXECUTE(k) (counts[omp_get_thread_num()].executed[k]++)

static long fib(int n)
{
	long a, b;
	if (n < 2)
		return n;
	CREATE(FIB_A);
#pragma omp task shared(a)
	{
		EXECUTE(FIB_A);
		a = fib(n - 1);
	}
	CREATE(FIB_B);
#pragma omp task shared(b)
	{
		EXECUTE(FIB_B);
		b = fib(n - 2);
	}
	CREATE(TASKWAITS);
#pragma omp taskwait
	return a + b;
}

static int safe(const char *board, int row)
{
	for (int i = 0; i < row; i++)
		if (board[i] == board[row] || abs(board[i] - board[row]) == row - i)
			return 0;
	return 1;
}

static long queens(int n, int row, const char *board)
{
	long found[16] = {0}, sum = 0;
	if (row == n)
		return 1;
	for (int col = 0; col < n; col++) {
		CREATE(QUEENS);
#pragma omp task shared(found) firstprivate(col)
		{
			char next[16];
			EXECUTE(QUEENS);
			memcpy(next, board, row);
			next[row] = col;
			if (safe(next, row))
				found[col] = queens(n, row + 1, next);
		}
	}
	CREATE(TASKWAITS);
#pragma omp taskwait
	for (int col = 0; col < n; col++)
		sum += found[col];
	return sum;
}

static void merge(const int *a, long na, const int *b, long nb, int *out)
{
	if (na < nb) {
		merge(b, nb, a, na, out);
		return;
	}
	if (na + nb < 256) {
		while (na && nb)
			*out++ = *a <= *b ? (na--, *a++) : (nb--, *b++);
		memcpy(out, na ? a : b, (na + nb) * sizeof(int));
		return;
	}
	long half = na / 2, lo = 0, hi = nb;
	while (lo < hi) {
		long mid = (lo + hi) / 2;
		if (b[mid] < a[half])
			lo = mid + 1;
		else
			hi = mid;
	}
	CREATE(MERGE);
#pragma omp task
	{
		EXECUTE(MERGE);
		merge(a, half, b, lo, out);
	}
	merge(a + half, na - half, b + lo, nb - lo, out + half + lo);
	CREATE(TASKWAITS);
#pragma omp taskwait
}

static int compare(const void *a, const void *b) { return (*(int *)a > *(int *)b) - (*(int *)a < *(int *)b); }

static void sort(int *a, long n, int *spare)
{
	if (n < 256) {
		qsort(a, n, sizeof(int), compare);
		return;
	}
	long half = n / 2;
	CREATE(SORT);
#pragma omp task
	{
		EXECUTE(SORT);
		sort(a, half, spare);
	}
	sort(a + half, n - half, spare + half);
	CREATE(TASKWAITS);
#pragma omp taskwait
	merge(a, half, a + half, n - half, spare);
	memcpy(a, spare, n * sizeof(int));
}

/* Each level waits inside the one above: no return probe could be pending. */
static int deep(int n)
{
	int below = 0;
	if (n == 0)
		return 0;
	CREATE(DEEP);
#pragma omp task shared(below)
	{
		EXECUTE(DEEP);
		below = deep(n - 1);
	}
	CREATE(TASKWAITS);
#pragma omp taskwait
	return below + 1;
}

static volatile double sink;
static void work(void)
{
	for (int i = 0; i < 200; i++)
		sink = sink + i;
}

static void kinds(int n)
{
	int x = 0, y = 0;
	for (int i = 0; i < n; i++) {
		CREATE(IF0);
#pragma omp task if (0)
		{
			EXECUTE(IF0);
			work();
		}
		CREATE(FINAL);
#pragma omp task final(1)
		{
			EXECUTE(FINAL);
			CREATE(IN_FINAL);
#pragma omp task
			EXECUTE(IN_FINAL);
		}
		CREATE(UNTIED);
#pragma omp task untied
		{
			EXECUTE(UNTIED);
			work();
#pragma omp taskyield
			work();
		}
		CREATE(DEPEND_OUT);
#pragma omp task depend(out : x)
		{
			EXECUTE(DEPEND_OUT);
			work();
			x++;
		}
		CREATE(DEPEND_IN);
#pragma omp task depend(in : x) depend(out : y)
		{
			EXECUTE(DEPEND_IN);
			work();
			y += x;
		}
		CREATE(PRIORITY);
#pragma omp task priority(2)
		{
			EXECUTE(PRIORITY);
			work();
		}
		CREATE(MERGEABLE);
#pragma omp task mergeable
		{
			EXECUTE(MERGEABLE);
			work();
		}
		omp_event_handle_t event;
		CREATE(DETACH);
#pragma omp task detach(event)
		{
			EXECUTE(DETACH);
			work();
			omp_fulfill_event(event);
		}
	}
	CREATE(TASKWAITS);
#pragma omp taskwait
}

static void groups(int n)
{
	for (int i = 0; i < n; i++) {
		CREATE(TASKGROUPS);
#pragma omp taskgroup
		{
			CREATE(OUTER);
#pragma omp task
			{
				EXECUTE(OUTER);
				for (int k = 0; k < 3; k++) {
					CREATE(INNER);
#pragma omp task
					{
						EXECUTE(INNER);
						work();
					}
				}
			}
		}
		CREATE(LOOP_TASKS);
#pragma omp taskloop num_tasks(10)
		for (int k = 0; k < 40; k++) {
			if (k % 4 == 0)
				EXECUTE(LOOP_TASKS);
			work();
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";
	int all = !strcmp(what, "all");
	int n = argc > 2 ? atoi(argv[2]) : 50000;
	long result = 0;
	int *a = malloc(2 * sizeof(int) * (n + 1));
	srand(1);
	for (int i = 0; i < n; i++)
		a[i] = rand();
	omp_set_max_active_levels(1);
#pragma omp parallel
#pragma omp single
	{
		if (all || !strcmp(what, "fib"))
			result += fib(all ? 17 : n);
		if (all || !strcmp(what, "queens"))
			result += queens(all ? 7 : n, 0, "");
		if (all || !strcmp(what, "sort"))
			sort(a, n, a + n);
		if (all || !strcmp(what, "deep"))
			result += deep(all ? 500 : n);
		if (all || !strcmp(what, "kinds"))
			kinds(all ? 60 : n);
		if (all || !strcmp(what, "groups"))
			groups(all ? 30 : n);
	}
	fprintf(stderr, "result %ld\n", result);
	for (int k = 0; k < KINDS; k++)
		for (int t = 0; t < THREADS; t++) {
			if (counts[t].created[k])
				printf("create:%s %d %lu\n", names[k], t, counts[t].created[k]);
			if (counts[t].executed[k])
				printf("execute:%s %d %lu\n", names[k], t, counts[t].executed[k]);
		}
	for (int k = 0; k < KINDS; k++)
		if (line_of[k])
			printf("line:%s 0 %d\n", names[k], line_of[k]);
	return 0;
}
