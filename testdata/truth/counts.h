// counts.h: counters per name and OpenMP thread number, shared by the tools.
//
// Every thread adds to a block of its own, so counting needs no lock and no
// shared cache line. A thread that ends hands its block, counts and all, to
// the next one: nothing is lost and 1000 short-lived threads stay cheap.
//
// The result is appended to $TRUTH_OUT ("%p" in it stands for the process id)
// in one write, so that processes of one run may share a file: lines
// "name thread count". A process that a signal kills writes nothing.
#ifndef COUNTS_H
#define COUNTS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_THREAD_NUM = 1024, MAX_NAMES = 512 };

struct block {
	struct block *next;  // all blocks ever made
	struct block *spare; // blocks without an owner
	unsigned long count[MAX_THREAD_NUM][MAX_NAMES];
};

static struct block *counts_all, *counts_spare;
static pthread_mutex_t counts_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t counts_key;
static pid_t counts_owner; // differs from getpid() in a vfork child
static int counts_highest;  // thread number met so far
static __thread struct block *counts_mine;

static void counts_fatal(const char *why)
{
	fprintf(stderr, "truth: %s\n", why);
	abort();
}

static void counts_give_back(void *p)
{
	struct block *b = p;
	counts_mine = NULL;
	pthread_mutex_lock(&counts_mutex);
	b->spare = counts_spare;
	counts_spare = b;
	pthread_mutex_unlock(&counts_mutex);
}

static struct block *counts_take(void)
{
	pthread_mutex_lock(&counts_mutex);
	struct block *b = counts_spare;
	if (b) {
		counts_spare = b->spare;
	} else {
		b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (b == MAP_FAILED)
			counts_fatal("no memory");
		b->next = counts_all;
		counts_all = b;
	}
	pthread_mutex_unlock(&counts_mutex);
	pthread_setspecific(counts_key, b);
	return counts_mine = b;
}

static inline void counts_add(int name, int thread)
{
	struct block *b = counts_mine ? counts_mine : counts_take();
	if (thread < 0 || thread >= MAX_THREAD_NUM)
		counts_fatal("thread number out of range");
	int highest = __atomic_load_n(&counts_highest, __ATOMIC_RELAXED);
	while (thread > highest &&
	       !__atomic_compare_exchange_n(&counts_highest, &highest, thread, 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	// Relaxed: only the owner writes, but the exiting thread reads.
	unsigned long *c = &b->count[thread][name];
	__atomic_store_n(c, *c + 1, __ATOMIC_RELAXED);
}

// counts_write appends all counts to the file and sets them to zero, so that
// a later call writes only what came since.
static void counts_write(const char *(*name)(int), int names)
{
	const char *out = getenv("TRUTH_OUT");
	if (!out || getpid() != counts_owner)
		return;
	char path[4096];
	const char *p = strstr(out, "%p");
	if (p)
		snprintf(path, sizeof path, "%.*s%d%s", (int)(p - out), out, getpid(), p + 2);
	else
		snprintf(path, sizeof path, "%s", out);

	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	if (!f)
		counts_fatal("no memory");
	pthread_mutex_lock(&counts_mutex);
	for (int n = 0; n < names; n++)
		for (int t = 0; t <= counts_highest; t++) {
			unsigned long sum = 0;
			for (struct block *b = counts_all; b; b = b->next)
				if (__atomic_load_n(&b->count[t][n], __ATOMIC_RELAXED))
					sum += __atomic_exchange_n(&b->count[t][n], 0, __ATOMIC_RELAXED);
			if (sum)
				fprintf(f, "%s %d %lu\n", name(n), t, sum);
		}
	pthread_mutex_unlock(&counts_mutex);
	fclose(f);

	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		counts_fatal("cannot write $TRUTH_OUT");
	close(fd);
	free(text);
}

// A forked child starts from zero: the parent writes what happened before.
static void counts_in_child(void)
{
	for (struct block *b = counts_all; b; b = b->next)
		madvise(b->count, sizeof b->count, MADV_DONTNEED);
	counts_owner = getpid();
	pthread_mutex_unlock(&counts_mutex);
}

static void counts_before_fork(void) { pthread_mutex_lock(&counts_mutex); }
static void counts_in_parent(void) { pthread_mutex_unlock(&counts_mutex); }

static void counts_init(void)
{
	counts_owner = getpid();
	pthread_key_create(&counts_key, counts_give_back);
	pthread_atfork(counts_before_fork, counts_in_parent, counts_in_child);
}

#endif
