// libmapfiles.c: shared object to be preloaded. It maps files as code, as just-in-time
// compilers and odd loaders do, and leaves them alone. The environment variable
// MAP_FILES lists the files, with a colon between them.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((constructor)) static void map_files(void)
{
	char *list = getenv("MAP_FILES");
	if (!list)
		return;
	list = strdup(list);
	for (char *name = strtok(list, ":"); name; name = strtok(NULL, ":")) {
		int fd = open(name, O_RDONLY);
		if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			abort();
		close(fd);
	}
	free(list);
}
