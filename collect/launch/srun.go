package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ompp-attach/collect/target"
)

// tasksOf returns the processes that an srun has started. slurmstepd is their parent, and gives
// them the port at which their srun listens. An srun that was started outside of an allocation has
// no job id in its own environment.
func tasksOf(srun int, all map[int]int) (found []int) {
	ports := listensAt(srun)
	host, _ := os.Hostname()
	for pid := range all {
		env := target.Environ(pid)
		port := env("SLURM_STEP_LAUNCHER_PORT")
		if port == "" {
			port = env("SLURM_SRUN_COMM_PORT")
		}
		// An srun on another node may have the same port.
		from := env("SLURM_SUBMIT_HOST")
		near := from == "" || host == "" || from == host || strings.HasPrefix(from, host+".") || strings.HasPrefix(host, from+".")
		if _, ok := RankOf(pid); ok && ports[port] && (near || env("SLURM_JOB_ID") == target.Environ(srun)("SLURM_JOB_ID")) && measurable(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// listensAt returns the TCP ports at which a process listens, in decimal.
func listensAt(pid int) map[string]bool {
	sockets := map[string]bool{}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil {
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				sockets[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	ports := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			// sl local_address rem_address st queues tr:tm retrnsmt uid timeout inode
			f := strings.Fields(line)
			const listening = "0A" // TCP_LISTEN
			if len(f) < 10 || f[3] != listening || !sockets[f[9]] {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			if port, err := strconv.ParseUint(hex, 16, 16); err == nil {
				ports[strconv.FormatUint(port, 10)] = true
			}
		}
	}
	return ports
}
