package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"ompp-attach/collect/target"
	"ompp-attach/preflight"
	"ompp-attach/symbols"
)

// JobProcesses lists the processes of this node that can be measured and that a launcher has
// started, directly or through other processes. The error is a sentence.
func JobProcesses(launcher int) ([]int, error) {
	p, err := preflight.ReadProcess(preflight.Root(), launcher)
	if err != nil {
		return nil, &target.AttachError{Sentence: fmt.Sprintf("there is no process %d: give the id of mpirun, mpiexec or srun, as ps or pgrep shows it", launcher)}
	}
	all := processes()
	var found []int
	for pid := range all {
		if descends(all, pid, launcher) && measurable(pid) {
			found = append(found, pid)
		}
	}
	// srun's tasks are started by slurmstepd, which is no child of it.
	job := target.Environ(launcher)("SLURM_JOB_ID")
	if len(found) == 0 && p.Name == "srun" {
		found = tasksOf(launcher, all)
	}
	if len(found) == 0 && p.Name == "srun" && job != "" {
		for pid := range all {
			if r, ok := RankOf(pid); ok && target.Environ(pid)("SLURM_JOB_ID") == job && r.Job != "" && measurable(pid) {
				found = append(found, pid)
			}
		}
	}
	if len(found) == 0 {
		hint := ""
		if p.Name == "srun" {
			hint = "; if its ranks run on other nodes, or are another user's, type there, as root or their user: ompp-attach attach --job $(pgrep -n slurmstepd)"
		}
		return nil, &target.AttachError{Sentence: fmt.Sprintf("process %d (%s) has started no process on this node that can be measured: none maps libgomp, libomp, libiomp5 or an MPI library that this version knows%s", launcher, p.Name, hint)}
	}
	if launcher == 1 && slices.ContainsFunc(found, isNoRank) { // in a container it may be mpirun
		return nil, &target.AttachError{Sentence: fmt.Sprintf("process 1 (%s) is the ancestor of all processes, also of those that are no ranks: give the id of mpirun, mpiexec or srun, as ps or pgrep shows it", p.Name)}
	}
	slices.Sort(found)
	return found, nil
}

func isNoRank(pid int) bool {
	_, is := RankOf(pid)
	return !is
}

// processes maps each process to its parent.
func processes() map[int]int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	out := map[int]int{}
	for _, d := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(d)); err == nil {
			out[pid] = target.ParentOf(pid)
		}
	}
	return out
}

// descends reports whether a process has another one among its ancestors.
func descends(parents map[int]int, pid, ancestor int) bool {
	for range len(parents) { // the parents were read one after another, so they may form a circle
		if pid = parents[pid]; pid == ancestor || pid == 0 {
			return pid != 0
		}
	}
	return false
}

// measurable reports whether a process maps something that can be probed.
func measurable(pid int) bool {
	mods, _ := symbols.Modules(pid)
	return slices.ContainsFunc(mods, target.CanProbe) && !target.Ended(pid) && pid != os.Getpid()
}
