package collect

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

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
	found, err := JobProcesses(os.Getpid())
	for limit := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		found, err = JobProcesses(os.Getpid()) // its libraries may not be mapped yet
	}
	if !slices.Equal(found, []int{rank.Process.Pid}) {
		t.Errorf("found %v, %v; want %d", found, err, rank.Process.Pid)
	}
}
