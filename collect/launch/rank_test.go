package launch

import (
	"os"
	"os/exec"
	"testing"

	"ompp-attach/collect/target"
	"ompp-attach/internal/testbin"
)

// sleeper runs a process with an environment of its own.
func sleeper(t *testing.T, env ...string) int {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "OTHER_PMI_RANK=99"}, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

func TestRankOf(t *testing.T) {
	slurm := []string{"SLURM_JOB_ID=77", "SLURM_STEP_ID=0", "SLURM_PROCID=5", "SLURM_NTASKS=8", "SLURM_STEP_NUM_TASKS=6"}
	with := func(more ...string) []string { return append(more, slurm...) }
	for _, tc := range []struct {
		name string
		env  []string
		want Rank
		ok   bool
	}{
		{"no launcher", []string{"PMI_SIZE=4"}, Rank{}, false},
		{"Open MPI", []string{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "PMIX_RANK=3", "PMIX_NAMESPACE=123@1"}, Rank{3, 4, "123@1"}, true},
		{"MPICH", []string{"PMI_RANK=0", "PMI_SIZE=2"}, Rank{0, 2, ""}, true},
		{"srun", slurm, Rank{5, 6, "77.0"}, true},
		{"srun with PMIx", with("PMIX_RANK=5", "PMIX_NAMESPACE=slurm.pmix.77.0"), Rank{5, 6, "slurm.pmix.77.0"}, true},
		{"Open MPI's daemon under srun", with("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=9"), Rank{1, 2, "9"}, true},
		{"hydra under srun", with("PMI_RANK=1", "PMI_SIZE=2"), Rank{1, 2, "77.0"}, true},
		{"script of a batch job", []string{"SLURM_JOB_ID=77", "SLURM_PROCID=0", "SLURM_NTASKS=8"}, Rank{}, false},
		{"interactive shell", with("SLURM_PTY_PORT=4000"), Rank{}, false},
		{"before any rank", []string{"PMI_RANK=-1", "PMI_SIZE=2"}, Rank{}, false},
		{"the step does not tell its size", []string{"SLURM_JOB_ID=77", "SLURM_STEP_ID=0", "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=0", "SLURM_NTASKS=8"}, Rank{5, 8, "77.0"}, true},
		{"no number", []string{"PMI_RANK=none"}, Rank{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pid := sleeper(t, tc.env...)
			// Its environment comes last.
			testbin.Until(t, "it has become sleep", func() bool { return target.Environ(pid)("OTHER_PMI_RANK") == "99" })
			if got, ok := RankOf(pid); got != tc.want || ok != tc.ok {
				t.Errorf("RankOf: %+v, %t; want %+v, %t", got, ok, tc.want, tc.ok)
			}
		})
	}
	if _, ok := RankOf(1 << 30); ok {
		t.Error("no process has a rank")
	}
}

// The arguments of MPICH's daemon tell the job.
func TestDaemonsJob(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"hydra_pmi_proxy", "--control-port", "node1:4711", "--rmk", "user", "--pgid", "2"}, "node1-4711.2"},
		{[]string{"hydra_pmi_proxy", "--control-port", "node1:4711"}, "node1-4711."},
		{[]string{"sh", "--pgid", "2"}, ""},
		{[]string{"sh", "--control-port"}, ""},
		{nil, ""},
	} {
		if got := daemonsJob(tc.args); got != tc.want {
			t.Errorf("%q: job %q, want %q", tc.args, got, tc.want)
		}
	}
}

// A process's name may look like the fields that follow it in /proc/PID/stat.

// Of the processes that run in a rank's environment, one is the rank. Every process that has been a
// rank of MPI stays one.
