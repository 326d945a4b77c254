// Runs a program and writes how many user cycles it and its threads took, as the
// kernel's own inherited counter has it, to the file:  perf_total FILE PROGRAM [ARG...]
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	struct perf_event_attr a;
	memset(&a, 0, sizeof a);
	a.size = sizeof a;
	a.type = PERF_TYPE_HARDWARE;
	a.config = PERF_COUNT_HW_CPU_CYCLES;
	a.disabled = a.inherit = a.enable_on_exec = a.exclude_kernel = a.exclude_hv = 1;
	int gate[2];
	if (pipe(gate))
		return 1;
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		close(gate[1]);
		if (read(gate[0], &c, 1) != 1)
			_exit(1);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	int fd = syscall(SYS_perf_event_open, &a, pid, -1, -1, 0);
	if (fd < 0) {
		perror("perf_event_open");
		return 1;
	}
	if (write(gate[1], "x", 1) != 1)
		return 1;
	int status;
	uint64_t n = 0;
	waitpid(pid, &status, 0);
	FILE *out = fopen(argv[1], "w");
	if (read(fd, &n, sizeof n) != sizeof n || !out)
		return 1;
	fprintf(out, "%llu\n", (unsigned long long)n);
	return fclose(out) || status != 0;
}
