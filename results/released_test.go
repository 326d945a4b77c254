package results

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/launch"
)

// A job's claim is removed on two conditions. No rank ran on another node. No process of the job is
// left that could start another measurement.
func TestRelease(t *testing.T) {
	const job = "j@1"
	for _, tc := range []struct {
		size          int
		living, stays bool
	}{{1, false, false}, {1, true, true}, {2, false, true}, {0, false, true}} {
		// A script of the job, which runs a tool, which runs the program.
		script := exec.Command("sh", "-c", `sh -c 'sh -c "echo \$\$; read x"; :'; :`)
		script.Env = append(os.Environ(), "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1", "PMIX_NAMESPACE="+job)
		in, err := script.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := script.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := script.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		var program int
		if _, err := fmt.Sscan(line, &program); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		end := func() {
			in.Close()
			var gone unix.Siginfo
			// It stays a zombie.
			_ = unix.Waitid(unix.P_PID, script.Process.Pid, &gone, unix.WEXITED|unix.WNOWAIT, nil)
		}
		defer func() { _ = script.Wait() }()

		dir, c := t.TempDir(), &Claims{}
		if _, err := c.Open(dir, false, &launch.Rank{Size: tc.size, Job: job}, "", program); err != nil {
			t.Fatal(err)
		}
		if len(c.above) != 2 || !c.above[script.Process.Pid] {
			t.Errorf("above %d are %v, want 2 with %d", program, c.above, script.Process.Pid)
		}
		if err := os.WriteFile(filepath.Join(dir, "profile.rank0.json.gz"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if !tc.living {
			end()
		}
		c.Leave()
		c.Release()
		if left, _ := filepath.Glob(filepath.Join(dir, claimPrefix+"*")); (len(left) > 0) != tc.stays {
			t.Errorf("%+v: %q are left", tc, left)
		}
		if tc.living {
			end()
		}
	}
}
