/* The entry points that the stubs stand before. In a SHUT one no code of the user's
 * runs, unless the program has tasks. */
#ifdef GOMP
SHUT(GOMP_critical_start)
SHUT(GOMP_critical_end)
SHUT(GOMP_barrier)
OPEN(GOMP_task)
OPEN(GOMP_taskwait)
#else
SHUT(__kmpc_critical)
SHUT(__kmpc_critical_with_hint)
SHUT(__kmpc_end_critical)
SHUT(__kmpc_barrier)
OPEN(__kmpc_omp_task)
OPEN(__kmpc_omp_taskwait)
#endif
SHUT(omp_set_lock)
SHUT(omp_unset_lock)
