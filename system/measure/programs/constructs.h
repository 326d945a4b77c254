// The constructs without tasks, for openmp.c. Each function executes its construct n times.

enum { WORDS = 1024, CHUNKS = 128 };

static double field[WORDS];
static double each_field[WORDS];
#pragma omp threadprivate(each_field)

// use keeps the compiler from leaving out a variable that nothing reads.
static __attribute__((noinline)) void use(volatile double *x)
{
	(void)*x;
}

static void in_parallel(int n)
{
	for (int i = 0; i < n; i++) {
#pragma omp parallel
		delay();
	}
}

static void with_private(int n)
{
	for (int i = 0; i < n; i++) {
		double field[WORDS];
#pragma omp parallel private(field)
		{
			field[0] = 1;
			use(field);
			delay();
		}
	}
}

static void with_firstprivate(int n)
{
	double mine[WORDS];

	memcpy(mine, field, sizeof mine);
	for (int i = 0; i < n; i++) {
#pragma omp parallel firstprivate(mine)
		{
			use(&mine[i % WORDS]);
			delay();
		}
	}
}

static void with_copyin(int n)
{
	for (int i = 0; i < n; i++) {
#pragma omp parallel copyin(each_field)
		{
			use(&each_field[i % WORDS]);
			delay();
		}
	}
}

static void in_parallel_loop(int n)
{
	for (int i = 0; i < n; i++) {
#pragma omp parallel for schedule(static)
		for (int j = 0; j < threads; j++)
			delay();
	}
}

static void in_static(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp for schedule(static)
		for (int j = 0; j < threads; j++)
			delay();
	}
}

static void in_static_1(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp for schedule(static, 1)
		for (int j = 0; j < threads; j++)
			delay();
	}
}

static void in_dynamic(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp for schedule(dynamic, 1)
		for (int j = 0; j < threads; j++)
			delay();
	}
}

static void in_guided(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp for schedule(guided)
		for (int j = 0; j < threads; j++)
			delay();
	}
}

static void each_chunk(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++)
		for (int j = 0; j < CHUNKS; j++)
			delay();
}

static void chunks_static(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp for schedule(static, 1)
		for (int j = 0; j < CHUNKS * threads; j++)
			delay();
	}
}

static void chunks_dynamic(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp for schedule(dynamic, 1)
		for (int j = 0; j < CHUNKS * threads; j++)
			delay();
	}
}

static void in_sections(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp sections
		{
#pragma omp section
			delay();
		}
	}
}

static void in_single(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp single
		delay();
	}
}

static void with_copyprivate(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp single copyprivate(each_field)
		delay();
	}
}

static void in_master(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp master
		delay();
	}
}

// Contended: the bodies exclude each other, so n delays take as long as by one thread.
static void in_critical(int n)
{
#pragma omp parallel
	for (int i = 0; i < n / threads; i++) {
#pragma omp critical
		delay();
	}
}

static void in_critical_free(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
		if (omp_get_thread_num() == 0) {
#pragma omp critical
			delay();
		}
	}
}

static void in_ordered(int n)
{
#pragma omp parallel for ordered schedule(static, 1)
	for (int i = 0; i < n; i++) {
#pragma omp ordered
		delay();
	}
}

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;

static void in_lock(int n)
{
#pragma omp parallel
	for (int i = 0; i < n / threads; i++) {
		omp_set_lock(&lock);
		delay();
		omp_unset_lock(&lock);
	}
}

static void in_lock_free(int n)
{
#pragma omp parallel
	{
		omp_lock_t own;

		omp_init_lock(&own);
		for (int i = 0; i < n; i++) {
			omp_set_lock(&own);
			delay();
			omp_unset_lock(&own);
		}
		omp_destroy_lock(&own);
	}
}

static void in_nest_lock(int n)
{
#pragma omp parallel
	for (int i = 0; i < n / threads; i++) {
		omp_set_nest_lock(&nest_lock);
		delay();
		omp_unset_nest_lock(&nest_lock);
	}
}

static void at_barrier(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
		delay();
#pragma omp barrier
	}
}

static volatile double shared_sum;

static void adds_alone(int n)
{
	volatile double own = 0;

	for (int i = 0; i < n; i++)
		own = own + 1;
}

static void each_adds(int n)
{
#pragma omp parallel
	adds_alone(n);
}

static void primary_adds(int n)
{
#pragma omp parallel
	if (omp_get_thread_num() == 0)
		adds_alone(n);
}

static void in_atomic(int n)
{
#pragma omp parallel
	for (int i = 0; i < n / threads; i++) {
#pragma omp atomic
		shared_sum += 1;
	}
}

static void in_atomic_free(int n)
{
#pragma omp parallel
	{
		volatile double own = 0;

		for (int i = 0; i < n; i++) {
#pragma omp atomic
			own += 1;
		}
	}
}

static void at_flush(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
		delay();
#pragma omp flush
	}
}

static void with_reduction(int n)
{
	for (int i = 0; i < n; i++) {
		double sum = 0;
#pragma omp parallel reduction(+ : sum)
		{
			delay();
			sum += 1;
		}
		use(&sum);
	}
}

static void prepare(void)
{
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest_lock);
}
