package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
)

// buildLateLevel builds latelevel.c, and returns the program and the library that it loads.
func buildLateLevel(t *testing.T) (bin, plugin string) {
	t.Helper()
	dir, src := t.TempDir(), filepath.Join(testbin.Repo(t), "testdata/programs/latelevel.c")
	bin, plugin = filepath.Join(dir, "latelevel"), filepath.Join(dir, "plugin.so")
	for _, line := range [][]string{
		{"-O2", "-DWORK", "-shared", "-fPIC", "-o", filepath.Join(dir, "libwork.so"), src},
		{"-O1", "-DPLUGIN", "-shared", "-fPIC", "-o", plugin, src, "-L" + dir, "-lwork", "-Wl,-rpath," + dir},
		{"-O1", "-o", bin, src, "-L" + dir, "-lwork", "-ldl", "-Wl,-rpath," + dir},
	} {
		if out, err := exec.Command("gcc", append([]string{"-g"}, line...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	return bin, plugin
}

// Functions that only a library loaded later imports are of the level from then on. Those that jump
// to functions which were probed before, or are jumped to by such, count as one call with these.
func TestLevelOfLaterLibrary(t *testing.T) {
	atOnce(t)
	needTool(t)
	bin, plugin := buildLateLevel(t)
	const n = 40
	for _, flags := range [][]string{nil, {"--max-overhead", "90%"}} {
		t.Run(strings.Join(append([]string{"launched"}, flags...), " "), func(t *testing.T) {
			s := clean(t, options{flags: append([]string{"--level", "work=libwork"}, flags...)}, bin, fmt.Sprint(n), plugin)
			got := map[string]uint64{}
			levelCounts(s.main, got)
			sameCounts(t, got, ofLevel("work", printedCounts(t, s.stdout)))
			if len(got) != 4 {
				t.Errorf("the functions called are %v", got)
			}
		})
	}
	t.Run("attached", func(t *testing.T) {
		program := exec.Command(bin, fmt.Sprint(n), plugin, "wait")
		var told strings.Builder
		program.Stdout = &told
		feed, err := program.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		waits, err := program.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = program.Process.Kill()
			_ = program.Wait()
		})
		if line, err := bufio.NewReader(waits).ReadString('\n'); line != "waits\n" {
			t.Fatalf("the program says %q: %v", line, err)
		}
		s := session{dir: filepath.Join(t.TempDir(), "out")}
		attach := exec.Command(tool, "attach", "--verbose", "--pid", fmt.Sprint(program.Process.Pid), "-o", s.dir, "--level", "work=libwork")
		says, err := attach.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := attach.Start(); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for lines := bufio.NewScanner(says); lines.Scan(); {
			fmt.Fprintln(&said, lines.Text())
			switch line := lines.Text(); {
			case strings.Contains(line, "Ctrl-C ends"): // it measures
				_, _ = io.WriteString(feed, "\n")
			case strings.Contains(line, "probes placed in the code of") && strings.Contains(said.String(), "more functions are of levels"):
				_, _ = io.WriteString(feed, "\n")
			}
		}
		if err := attach.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		s.load(t)
		if s.main == nil {
			t.Fatalf("no profile\n%s", said.String())
		}
		_ = program.Wait()
		want := printedCounts(t, told.String())
		// The first loop was over before the tool came.
		want["work_first"] -= n
		want["work_second"] -= n
		got := map[string]uint64{}
		levelCounts(s.main, got)
		sameCounts(t, got, ofLevel("work", want))
		if !strings.Contains(strings.Join(s.main.Warnings, "\n")+said.String(), "loaded libraries while it ran") {
			t.Errorf("nothing says that a moment may be missing:\n%s", said.String())
		}
	})
}

// ofLevel names counts as levelCounts does.
func ofLevel(level string, counts map[string]uint64) map[string]uint64 {
	out := map[string]uint64{}
	for name, n := range counts {
		out[level+"/"+name] = n
	}
	return out
}
