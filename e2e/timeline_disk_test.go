package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
	"ompp-attach/results"
	"ompp-attach/timeline"
)

// barriers is how many barriers the program executes. A small disk holds a fraction of them, even
// if many are lost on a crowded machine.
const barriers = 600_000

// A timeline that is written meanwhile may find no more room, or may not grow any more. Then what
// it has can be read, what it lacks is counted, and the status says so. The profile is whole in its
// place.
func TestTimelineDiskFull(t *testing.T) {
	atOnce(t)
	needTool(t)
	bin := testbin.Build(t, "saturate.c", testbin.Options{})
	for _, tc := range []struct {
		name, reason string
		disk         string // size of a disk of its own
		most         uint64 // limit of file size
	}{
		{"disk", "no space left on device", "size=1300k", unix.RLIM_INFINITY},
		{"file size", "file too large", "", 300_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			disk := t.TempDir()
			if tc.disk != "" {
				if err := unix.Mount("tmpfs", disk, "tmpfs", 0, tc.disk); err != nil {
					t.Skip(err)
				}
				defer func() { _ = unix.Unmount(disk, unix.MNT_DETACH) }()
			}
			dir := filepath.Join(disk, "out")
			cmd := exec.Command(tool, "run", "--timeline", "all", "--format", "ompp", "-o", dir, "--", bin, "barrier", strconv.Itoa(barriers), "1")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := startLimited(cmd, tc.most); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("the tool ends with %v, want status 1\n%s", err, stderr.String())
			}
			for _, want := range []string{"the timeline cannot be written any more (" + tc.reason + ")", "is not whole: " + tc.reason} {
				if strings.Count(stderr.String(), want) != 1 {
					t.Errorf("not said once: %q\n%s", want, stderr.String())
				}
			}
			p, err := results.ReadProfile(filepath.Join(dir, results.RecordName))
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			if _, err := os.Stat(filepath.Join(dir, "profile.ompp.txt")); err != nil {
				t.Error(err)
			}
			f := timelineIn(t, dir)
			n, _ := f.Spans()
			read, dropped := uint64(0), uint64(0)
			for _, tid := range f.TIDs() {
				for s, err := range f.Thread(tid) {
					if err != nil {
						t.Fatal(err)
					}
					read += s.Exec.C
				}
			}
			for _, g := range f.Gaps {
				dropped += g.Spans
				if g.Why == timeline.ByDisk && g.From >= g.To {
					t.Errorf("gap %+v", g)
				}
			}
			if all := executionsOf(p); f.Torn || n == 0 || dropped == 0 || read+dropped != all {
				t.Errorf("%d executions can be read, %d are missing, of %d; torn %v\n%s", read, dropped, all, f.Torn, stderr.String())
			}
		})
	}
}

// executionsOf counts the executions of a profile.
func executionsOf(p *profile.Profile) (n uint64) {
	for i := range p.Nodes[1:] {
		for _, s := range p.Nodes[1+i].Stats {
			n += s.Exec.C
		}
	}
	return n
}

// startLimited starts a command whose files may not be larger than so many bytes.
func startLimited(cmd *exec.Cmd, most uint64) error {
	if most == unix.RLIM_INFINITY {
		return cmd.Start()
	}
	// This process must not be limited: the command is, before it begins.
	cmd.Args = append([]string{"prlimit", "--fsize=" + strconv.FormatUint(most, 10), cmd.Path}, cmd.Args[1:]...)
	path, err := exec.LookPath("prlimit")
	cmd.Path = path
	return errors.Join(err, cmd.Start())
}

// A tool that is killed leaves a timeline of which all can be read that was written.
func TestTimelineKilled(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "saturate.c", testbin.Options{})
	s := start(t, "run", "--timeline", "all", "--", bin, "barrier", "4000000", "1")
	name := ""
	until(t, "the timeline grows", func() bool {
		names, _ := filepath.Glob(filepath.Join(s.dir, "*"+results.TimelineSuffix))
		if len(names) != 1 {
			return false
		}
		name = names[0]
		st, err := os.Stat(name)
		return err == nil && st.Size() > 200_000
	})
	programs := childrenOf(s.cmd.Process.Pid)
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	defer func() {
		for _, pid := range programs {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	until(t, "the tool is gone", func() bool { return syscall.Kill(s.cmd.Process.Pid, 0) != nil || zombie(s.cmd.Process.Pid) })
	f, c, err := results.OpenTimeline(name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all, read := uint64(0), uint64(0)
	all, _ = f.Spans()
	for _, tid := range f.TIDs() {
		for _, err := range f.Thread(tid) {
			if err != nil {
				t.Fatal(err)
			}
			read++
		}
	}
	if !f.Torn || !f.Dictionary.Unresolved || read == 0 || read != all || f.Last()-f.First() < uint64(10*time.Millisecond) {
		t.Errorf("%d of %d spans are read, from %d to %d; torn %v", read, all, f.First(), f.Last(), f.Torn)
	}
	if out, err := toolOutput(t, "report", "--format", "perfetto", s.dir); err != nil || !strings.Contains(out, "open it at") || !strings.Contains(out, "was cut off") {
		t.Errorf("no trace of it, or nothing says that the file was cut off: %v\n%s", err, out)
	}
}

// zombie tells whether a process has ended and was not waited for.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(b, []byte(") Z "))
}
