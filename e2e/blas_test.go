package e2e

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// The calls of a library of Debian's are counted exactly in a program without OpenMP and MPI,
// launched and attached to.
func TestBLASLevel(t *testing.T) {
	atOnce(t)
	needTool(t)
	bin := buildBLAS(t)
	const rounds = 30
	want := map[string]uint64{"dgemm_": rounds, "ddot_": 100 * rounds, "dgesv_": rounds}
	t.Run("launched", func(t *testing.T) {
		s := clean(t, options{flags: []string{"--level", "blas=libopenblas"}}, bin, fmt.Sprint(rounds))
		if got := levelCalls(s.main, "blas"); !maps.Equal(got, want) {
			t.Errorf("calls %v, want %v", got, want)
		}
		text, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
		if _, section, _ := strings.Cut(string(text), "ompP Levels"); err != nil || !strings.Contains(section, fmt.Sprint(102*rounds)) {
			t.Errorf("the report lacks the level's calls: %v", err)
		}
	})
	t.Run("attached", func(t *testing.T) {
		program := exec.Command(bin, fmt.Sprint(rounds), "wait")
		feed, err := program.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		over := false
		t.Cleanup(func() {
			if !over {
				_ = program.Process.Kill()
				_ = program.Wait()
			}
		})
		awaitLibrary(t, program.Process.Pid, "libopenblas")
		s := session{dir: filepath.Join(t.TempDir(), "out")}
		attach := exec.Command(tool, "attach", "--pid", fmt.Sprint(program.Process.Pid), "-o", s.dir, "--level", "blas=libopenblas")
		says, err := attach.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := attach.Start(); err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		for lines := bufio.NewScanner(says); lines.Scan(); {
			fmt.Fprintln(&told, lines.Text())
			if strings.Contains(lines.Text(), "Ctrl-C ends") { // it measures
				_, _ = fmt.Fprintln(feed)
			}
		}
		if err := attach.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, told.String())
		}
		if err := program.Wait(); err != nil {
			t.Errorf("the program: %v", err)
		}
		over = true
		s.load(t)
		if s.main == nil {
			t.Fatalf("no profile\n%s", told.String())
		}
		if got := levelCalls(s.main, "blas"); !maps.Equal(got, want) {
			t.Errorf("calls %v, want %v\n%s", got, want, told.String())
		}
	})
}

// buildBLAS builds the program with OpenBLAS, and skips the test where that is missing.
func buildBLAS(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "blas")
	out, err := exec.Command("gcc", "-O1", "-g", "-o", bin, filepath.Join(testbin.Repo(t), "testdata/programs/blas.c"), "-lopenblas").CombinedOutput()
	if err != nil {
		t.Skipf("no OpenBLAS here: %s", out)
	}
	return bin
}

// awaitLibrary waits until a process maps a library.
func awaitLibrary(t *testing.T, pid int, name string) {
	t.Helper()
	until(t, fmt.Sprintf("process %d maps %s", pid, name), func() bool {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		return err == nil && strings.Contains(string(maps), name)
	})
}

// levelCalls returns the executions of a level's functions.
func levelCalls(p *profile.Profile, level string) map[string]uint64 {
	out := map[string]uint64{}
	for _, n := range p.Nodes {
		if n.Region < 0 || p.Regions[n.Region].Level != level {
			continue
		}
		for _, s := range n.Stats {
			out[p.Regions[n.Region].Name] += s.Exec.C
		}
	}
	return out
}
