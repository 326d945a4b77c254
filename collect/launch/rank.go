package launch

import (
	"cmp"
	"strconv"
	"strings"

	"ompp-attach/collect/target"
)

// Rank is a process's place in a job, as the launcher tells it in the environment.
type Rank struct {
	Rank, Size int    // Size 0: not known
	Job        string // the launcher's name of the job, the same on all nodes; may be empty
}

// RankOf returns the place of a process in the job for which a launcher (mpirun, srun) started it.
// ok is false if the process is no rank.
func RankOf(pid int) (r Rank, ok bool) {
	r.Rank, r.Size, r.Job, ok = rankOf(pid)
	return r, ok
}

// launchers are the environment variables by which launchers tell a process its rank. One launcher
// may run under another. Then its processes inherit the other launcher's variables. So the inner
// ones come first: hydra and orted are tasks of srun in a Slurm job.
var launchers = []struct {
	rank       string
	sizes, job []string
}{
	{"OMPI_COMM_WORLD_RANK", []string{"OMPI_COMM_WORLD_SIZE"}, []string{"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
	{"PMI_RANK", []string{"PMI_SIZE"}, []string{"PMI_JOBID"}},
	{"PMIX_RANK", []string{"SLURM_STEP_NUM_TASKS"}, []string{"PMIX_NAMESPACE"}},
	{"PALS_RANKID", nil, []string{"PALS_APID"}},
	{"FLUX_TASK_RANK", []string{"FLUX_JOB_SIZE"}, []string{"FLUX_JOB_ID"}},
	{"SLURM_PROCID", []string{"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, nil},
}

// rankOf is RankOf with its results one by one.
func rankOf(pid int) (rank, size int, job string, ok bool) {
	env := target.Environ(pid)
	for _, l := range launchers {
		rank, err := strconv.Atoi(env(l.rank))
		if err != nil || rank < 0 {
			continue
		}
		if l.rank == "SLURM_PROCID" && (env("SLURM_STEP_ID") == "" || env("SLURM_PTY_PORT") != "") {
			continue // the script of a batch job, or an interactive shell
		}
		for _, name := range l.sizes {
			if size, _ = strconv.Atoi(env(name)); size > 0 {
				break
			}
		}
		for _, name := range l.job {
			job = cmp.Or(job, env(name))
		}
		if job == "" && l.rank == "PMI_RANK" {
			job = hydraJob(pid)
		}
		if id := env("SLURM_JOB_ID"); job == "" && id != "" {
			job = id + "." + env("SLURM_STEP_ID")
		}
		return rank, size, job, true
	}
	return 0, 0, "", false
}

// NamelessPrefix begins the names of jobs to which the launcher gives none. The parent's PID
// follows.
const NamelessPrefix = "parent-"

// hydraJob makes a name for a job of hydra, MPICH's launcher, because hydra does not tell its
// processes one. The arguments of hydra's daemon on each node say where mpiexec listens, and which
// process group the daemon serves.
func hydraJob(pid int) string {
	const far = 8 // wrappers that a rank may be started through
	for range far {
		if pid = target.ParentOf(pid); pid <= 1 {
			return ""
		}
		if job := daemonsJob(target.CommandLine(pid)); job != "" {
			return job
		}
	}
	return ""
}

// daemonsJob returns the name of the job that a daemon with these arguments serves, or "".
func daemonsJob(args []string) string {
	var port, group string
	for i, a := range args[:max(0, len(args)-1)] {
		switch a {
		case "--control-port":
			port = args[i+1]
		case "--pgid":
			group = args[i+1]
		}
	}
	if port == "" {
		return ""
	}
	return strings.ReplaceAll(port, ":", "-") + "." + group
}
