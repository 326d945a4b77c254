// Where ranks are: on which node, and in which part of it. Include sample.h first.
#ifndef PLACE_H
#define PLACE_H
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

// place is of a rank: the numbers of its node, socket, last-level cache and core; -1 if the rank
// may run in several of them. cpus is how many CPUs all ranks of its node may use,
// ranks how many they are.
struct place {
	int node, socket, cache, core, cpus, ranks;
};

enum { PLACE_INTS = sizeof(struct place) / sizeof(int) };

// first_number reads the number at the beginning of a file in /sys/devices/system/cpu/cpuN; -1 if
// there is none.
static int first_number(int cpu, const char *file)
{
	char name[200];
	int number = -1;
	FILE *f;

	snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	f = fopen(name, "r");
	if (f == NULL)
		return -1;
	if (fscanf(f, "%d", &number) != 1)
		number = -1;
	fclose(f);
	return number;
}

// last_cache is the first CPU of those that share a CPU's last-level cache.
static int last_cache(int cpu)
{
	int first = -1;

	for (int i = 0, best = 0; i < 10; i++) {
		char file[60];
		int level;

		snprintf(file, sizeof file, "cache/index%d/level", i);
		level = first_number(cpu, file);
		if (level > best) {
			best = level;
			snprintf(file, sizeof file, "cache/index%d/shared_cpu_list", i);
			first = first_number(cpu, file);
		}
	}
	return first;
}

// merge keeps a number only if all CPUs have it.
static void merge(int *have, int number, int first)
{
	if (first)
		*have = number;
	else if (*have != number)
		*have = -1;
}

// own is the CPUs on which the threads of this rank may run.
// allow adds those of the calling thread.
static cpu_set_t own;

static void allow(void)
{
	cpu_set_t mine;

	CPU_ZERO(&mine);
	sched_getaffinity(0, sizeof mine, &mine);
	CPU_OR(&own, &own, &mine);
}

// place_of tells where the calling rank is. All ranks of comm call it.
static struct place place_of(MPI_Comm comm)
{
	struct place p = {-1, -1, -1, -1, 0, 0};
	MPI_Comm node;
	cpu_set_t all;
	int first = 1;

	MPI_Comm_rank(comm, &p.node);
	MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Bcast(&p.node, 1, MPI_INT, 0, node);
	MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);
	MPI_Comm_size(node, &p.ranks);
	MPI_Comm_free(&node);
	p.cpus = CPU_COUNT(&all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &own))
			continue;
		merge(&p.socket, first_number(cpu, "topology/physical_package_id"), first);
		merge(&p.cache, last_cache(cpu), first);
		merge(&p.core, first_number(cpu, "topology/thread_siblings_list"), first);
		first = 0;
	}
	return p;
}

// where names the nearest part of a machine that has all ranks of comm. It counts the nodes of the
// part, and tells whether a node has more ranks with `threads` threads than CPUs. The values are
// those of all ranks.
static const char *where(MPI_Comm comm, int threads, int *nodes, int *oversubscribed)
{
	struct place own = place_of(comm), *all;
	int size, socket = 1, cache = 1, core = 1;

	MPI_Comm_size(comm, &size);
	all = malloc(size * sizeof *all);
	MPI_Allgather(&own, PLACE_INTS, MPI_INT, all, PLACE_INTS, MPI_INT, comm);
	*nodes = *oversubscribed = 0;
	for (int i = 0; i < size; i++) {
		*nodes += all[i].node == i;
		*oversubscribed |= all[i].ranks * threads > all[i].cpus;
		socket &= all[i].socket >= 0 && all[i].socket == all[0].socket;
		cache &= all[i].cache >= 0 && all[i].cache == all[0].cache;
		core &= all[i].core >= 0 && all[i].core == all[0].core;
	}
	free(all);
	return *nodes > 1 ? "nodes" : core ? "core" : cache ? "complex" : socket ? "socket" : "node";
}

// write_library writes which MPI library this is.
static void write_library(int level)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING], line[1000];
	int length, version, subversion;
	FILE *maps;

	MPI_Get_version(&version, &subversion);
	MPI_Get_library_version(text, &length);
	text[strcspn(text, "\n")] = 0;
	printf("ompp-attach: fact mpi_standard %d.%d\n", version, subversion);
	printf("ompp-attach: fact mpi_library %s\n", text);
	printf("ompp-attach: fact mpi_threads %s\n",
		level == MPI_THREAD_MULTIPLE ? "MPI_THREAD_MULTIPLE" :
		level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED" :
		level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE");
	maps = fopen("/proc/self/maps", "r");
	while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
		char *path = strchr(line, '/');

		if (path != NULL && strstr(path, "/libmpi") != NULL && strstr(line, "r-xp") != NULL)
			printf("ompp-attach: fact mpi_path %s", path);
	}
	if (maps != NULL)
		fclose(maps);
	fflush(stdout);
}

#endif
