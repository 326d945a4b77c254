package launch

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
)

// A rank may use MPI alone, in a library that knows no OpenMP.
func TestJobProcesses(t *testing.T) {
	bin := testbin.MPICH.Build(t, "mpi_ends.c", testbin.Options{NoOpenMP: true})
	rank := exec.Command(bin, "echo") // until its input ends
	in, err := rank.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := rank.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = rank.Wait()
	})
	var found []int
	testbin.Until(t, "a process of the job is found", func() bool {
		found, err = JobProcesses(os.Getpid()) // its libraries may not be mapped yet
		return err == nil
	})
	if !slices.Equal(found, []int{rank.Process.Pid}) {
		t.Errorf("found %v, %v; want %d", found, err, rank.Process.Pid)
	}
	if found, err := JobProcesses(1); err == nil {
		t.Errorf("found %v, which no job has started", found)
	}
}

// The tasks of an srun that was started outside of an allocation are the processes that got its
// port; slurmstepd is their parent.
func TestJobOfSrun(t *testing.T) {
	b, err := os.ReadFile(testbin.Build(t, "listen.c", testbin.Options{NoOpenMP: true}))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "srun")
	testbin.Executable(t, path, b)
	// A process that ends with the test, and that has printed a line.
	start := func(path string, env ...string) (pid int, line string) {
		c := exec.Command(path, "echo")
		c.Env = append(os.Environ(), env...)
		in, err1 := c.StdinPipe()
		out, err2 := c.StdoutPipe()
		if err := errors.Join(err1, err2, c.Start()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = in.Close()
			_ = c.Wait()
		})
		if filepath.Base(path) == "srun" {
			if line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		return c.Process.Pid, strings.TrimSpace(line)
	}
	srun, port := start(path)
	bin := testbin.MPICH.Build(t, "mpi_ends.c", testbin.Options{NoOpenMP: true})
	task := func(port string) int {
		pid, _ := start(bin, "SLURM_PROCID=0", "SLURM_STEP_ID=0", "SLURM_JOB_ID=7", "SLURM_STEP_LAUNCHER_PORT="+port)
		testbin.Until(t, "the task maps its libraries", func() bool { return measurable(pid) })
		return pid
	}
	want := []int{task(port), task(port)}
	task("1") // another srun's
	slices.Sort(want)
	if found, err := JobProcesses(srun); !slices.Equal(found, want) {
		t.Errorf("found %v, %v; want %v", found, err, want)
	}
}
