package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/profile"
)

// Debian's interpreter, for which its NumPy is built.
const python = "/usr/bin/python3"

// multiply multiplies matrices until its time is over, says when it is about
// to, and prints how often it did.
const multiply = `
import sys, time
import numpy
a = numpy.random.rand(256, 256)
print("ready", flush=True)
end = time.time() + float(sys.argv[1])
k = 0
while k == 0 or time.time() < end: # a busy machine may give no core before the end
    a @ a
    k += 1
print(k)
`

// needNumPy skips the test where NumPy does not compute with OpenMP.
func needNumPy(t *testing.T) {
	t.Helper()
	needTool(t)
	out, err := exec.Command(python, "-c", "import numpy, re; numpy.ones((4,4)) @ numpy.ones((4,4)); print(open('/proc/self/maps').read())").Output()
	switch {
	case err != nil:
		t.Skip("python3-numpy is not installed")
	case !strings.Contains(string(out), "openblas-openmp/"):
		t.Skip("libopenblas0-openmp is not installed, or NumPy's BLAS is another one (update-alternatives)")
	}
}

// NumPy calls OpenBLAS, which the interpreter loads by dlopen and which calls
// libgomp; neither was written for us, both are stripped.
func TestNumPy(t *testing.T) {
	atOnce(t)
	needNumPy(t)
	blas := func(t *testing.T, p *profile.Profile) (times uint64) {
		for i, r := range p.Regions {
			if !strings.HasPrefix(filepath.Base(r.Location.Object), "libopenblas") {
				continue
			}
			if r.Runtime != "libgomp" {
				t.Errorf("region of %q", r.Runtime)
			}
			for _, n := range p.Nodes {
				for _, s := range n.Stats {
					if n.Region == i && p.Threads[s.Thread].Num == 0 {
						times += s.Exec.C
					}
				}
			}
		}
		return times
	}
	t.Run("run", func(t *testing.T) {
		s := clean(t, options{env: threadsEnv(2)}, python, "-c", multiply, "0.5")
		complete(t, s.main)
		balanced(t, s.main)
		printed := strings.Fields(s.stdout)
		n, err := strconv.ParseUint(printed[len(printed)-1], 10, 64)
		if err != nil || n == 0 {
			t.Fatalf("the program printed %q", s.stdout)
		}
		// One region per product of matrices of this size.
		if got := blas(t, s.main); got != n {
			t.Errorf("%d regions, want %d\n%s", got, n, dump(s.main))
		}
	})
	t.Run("attach", func(t *testing.T) {
		cmd := exec.Command(python, "-c", multiply, aLongTime) // it is killed
		cmd.Env = append(os.Environ(), threadsEnv(2)...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		if _, err := out.Read(make([]byte, len("ready\n"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		p := start(t, "attach", "--duration", "4s", "--pid", strconv.Itoa(cmd.Process.Pid)).profile(t)
		if p.Meta.LostHits != 0 {
			t.Errorf("lost %d", p.Meta.LostHits)
		}
		balanced(t, p)
		if got := blas(t, p); got < 10 {
			t.Errorf("%d regions in four seconds\n%s", got, dump(p))
		}
	})
}
