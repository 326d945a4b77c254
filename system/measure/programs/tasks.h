// The constructs of tasks, for openmp.c.

// Each thread creates tasks, and the team executes them.
static void creates_tasks(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp task
		delay();
	}
}

static void creates_for_all(int n)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < n; i++) {
#pragma omp task
		delay();
	}
}

// The tasks of a taskloop have one iteration of the n each: a task per thread.
static void in_taskloop(int n)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < n; i++) {
#pragma omp taskloop num_tasks(threads)
		for (int j = 0; j < threads; j++)
			delay();
	}
}

static void at_taskwait(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
		delay();
#pragma omp taskwait
	}
}

static void at_taskwait_for_task(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp task
		delay();
#pragma omp taskwait
	}
}

static void in_taskgroup(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp taskgroup
		delay();
	}
}
