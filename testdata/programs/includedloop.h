/* A directive in a file of its own: includedloop.c includes this file before the statement. */
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
