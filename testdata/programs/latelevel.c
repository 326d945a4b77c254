// latelevel.c: a library, and a program that loads another library which calls further functions of
// the first one.
//
//   cc -DWORK -shared -fPIC -o libwork.so latelevel.c
//   cc -DPLUGIN -shared -fPIC -o plugin.so latelevel.c -L. -lwork
//   cc -o latelevel latelevel.c -L. -lwork
//
//   latelevel N PLUGIN [wait]
//
// The program calls work_first and work_second N times each, loads the plugin, which calls
// work_first, work_third and work_fourth N times each, and calls work_first and work_second N times
// again. With a third argument the program writes "waits" to its standard error before it loads the
// plugin, and waits for a line on its standard input. When the plugin is loaded, the program waits
// for another line before the plugin's calls. work_second ends in a jump to work_fourth, and
// work_third in one to work_first: such a call is one call. The program writes the numbers of calls.
#include <stdio.h>
#include <stdlib.h>

long work_first(long x);
long work_second(long x);
long work_third(long x);
long work_fourth(long x);

#if defined(WORK)

long work_first(long x) { return x + 1; }
long work_second(long x) { return work_fourth(x + 2); }
long work_third(long x) { return work_first(x + 3); }
long work_fourth(long x) { return x ^ 4; }
long work_never(long x) { return x; }

#elif defined(PLUGIN)

long plug(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++) {
		sum += work_first(i);
		sum += work_third(i);
		sum += work_fourth(i);
	}
	return sum;
}

#else
#include <dlfcn.h>

int main(int argc, char **argv)
{
	long n = atol(argv[1]), sum = 0;
	for (long i = 0; i < n; i++) {
		sum += work_first(i);
		sum += work_second(i);
	}
	if (argc > 3) {
		fputs("waits\n", stderr);
		getchar();
	}
	void *plugin = dlopen(argv[2], RTLD_NOW);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	if (argc > 3)
		getchar();
	sum += ((long (*)(long))dlsym(plugin, "plug"))(n);
	for (long i = 0; i < n; i++) {
		sum += work_first(i);
		sum += work_second(i);
	}
	printf("work_first %ld\nwork_second %ld\nwork_third %ld\nwork_fourth %ld\n", 3 * n, 2 * n, n, n);
	return sum == 42;
}

#endif
