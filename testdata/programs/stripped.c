// Calls a library that is stripped. Arguments: the library, rounds (default 200),
// steps of each (default 400000).
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void work(int rounds, long steps);

int main(int argc, char **argv)
{
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int rounds = argc > 2 ? atoi(argv[2]) : 200;
	long steps = argc > 3 ? atol(argv[3]) : 400000;
	if (!lib) {
		fprintf(stderr, "stripped: %s\n", argc > 1 ? dlerror() : "the library is missing");
		return 1;
	}
	((work *)dlsym(lib, "solve"))(rounds, steps);
	((work *)dlsym(lib, "direct"))(rounds, steps);
	return 0;
}
