package collect

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"ompp-attach/attribution"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// The variables in which launchers tell a process its place, best first. Slurm's
// come last: a process that mpirun starts inside a job has those of mpirun's own
// task.
var (
	rankVariables = []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}
	sizeVariables = []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"}
	jobVariables  = []string{"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID"}
)

// placeInJob says what a process's environment tells of its place in a job.
func placeInJob(pid int) *attribution.MPIJob {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return jobOf(string(b))
}

func jobOf(environ string) *attribution.MPIJob {
	set := map[string]string{}
	for v := range strings.SplitSeq(environ, "\x00") {
		if name, value, ok := strings.Cut(v, "="); ok {
			set[name] = value
		}
	}
	number := func(names []string, otherwise int) int {
		for _, name := range names {
			if n, err := strconv.Atoi(set[name]); err == nil && n >= 0 {
				return n
			}
		}
		return otherwise
	}
	j := &attribution.MPIJob{Rank: number(rankVariables, -1), Size: number(sizeVariables, 0)}
	for _, name := range jobVariables {
		if set[name] != "" {
			j.Job = set[name]
			break
		}
	}
	return j
}

var threadLevels = [...]string{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"}

// begin notes what the end of MPI_Init told; mu is held.
func (q *mpiProcess) begin(w *probes.MPIWorld) {
	if w.Size > 0 {
		q.job.Rank, q.job.Size = w.Rank, w.Size
	}
	if w.Level >= 0 && w.Level < len(threadLevels) {
		q.job.Level = threadLevels[w.Level]
	}
}

// worldOf reads rank and size of MPI_COMM_WORLD from a running process's memory.
func worldOf(pid int, mod *symbols.Module, l *probes.MPILibrary) (probes.MPIWorld, bool) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return probes.MPIWorld{}, false
	}
	defer f.Close()
	return l.World(mod.Bias, func(addr uint64, n int) (uint64, error) {
		var b [8]byte
		if _, err := f.ReadAt(b[:n], int64(addr)); err != nil {
			return 0, err
		}
		return binary.LittleEndian.Uint64(b[:]), nil
	})
}
