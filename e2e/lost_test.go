package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"ompp-attach/internal/testbin"
)

// All hits that are lost are told of the threads and regions that they were lost in. The tool is
// stopped for so long that the rings fill. A thread's next record says how many hits the thread has
// lost. With --waits, that may be the record of a request that MPI_Waitall waits for.
func TestLostHitsHaveAPlace(t *testing.T) {
	atOnce(t)
	needTool(t)
	for _, m := range bothMPIs {
		t.Run(string(m), func(t *testing.T) {
			s := session{dir: filepath.Join(t.TempDir(), "out")}
			bin := m.Build(t, "mpi_flood.c", testbin.Options{})
			cmd := exec.Command(tool, "run", "--waits", "--quiet", "-o", s.dir, "--", bin)
			cmd.Env = append(append(os.Environ(), threadsEnv(2)...), m.LaunchEnv(t)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			in, out := startTalking(t, cmd)
			defer killStopped(cmd)
			said := bufio.NewScanner(out)
			hear := func(want string) {
				t.Helper()
				if !said.Scan() || said.Text() != want {
					t.Fatalf("the program says %q, %v\n%s", said.Text(), said.Err(), stderr.String())
				}
			}
			hear("ready")
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			// A thread always writes to the same ring, which is full before 10,000 waits. The
			// program says `on` after each thousand.
			for range 20 {
				hear("on")
			}
			_ = cmd.Process.Signal(syscall.SIGCONT)
			for range 5 { // while the tool reads the rings
				hear("on")
			}
			fmt.Fprintln(in)
			for said.Scan() && said.Text() != "calm" {
			}
			// Otherwise a thread's last record may find the ring full, too.
			toolSays(t, "dump", "--pid", fmt.Sprint(processesOf(cmd.Process.Pid, bin)[0]))
			fmt.Fprintln(in)
			for said.Scan() {
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			s.load(t)
			p := s.ranks(t, 1)[0]
			var told uint64
			for _, l := range p.Lost {
				told += l.Events
			}
			switch all := p.Meta.LostHits; {
			case all == 0:
				t.Error("nothing was lost: the rings did not get full, which proves nothing")
			case told != all:
				t.Errorf("%d hits were lost; places were told of %d", all, told)
			}
		})
	}
}
