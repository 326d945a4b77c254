package symbols

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

func TestParseMaps(t *testing.T) {
	text := `55d0c8a00000-55d0c8a01000 r-xp 00001000 fd:01 1234                       /usr/bin/a b
7f0000000000-7f0000001000 r-xp 00000000 00:2f 99                         /tmp/x (deleted)
7f0000001000-7f0000002000 rw-p 00000000 00:00 0 
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]
7ffc00030000-7ffc00032000 r-xp 00000000 00:00 0                          [vdso]
7f0000002000-7f0000003000 rw-p 00002000 fd:01 9                          /data
7f0000003000-7f0000004000 rwxs 00000000 00:01 7                          /dev/zero (deleted) (deleted)
7f0000005000-7f0000006000 r-xp 00000000 fd:01 8                          /a\012b
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
nonsense
7f0000006000-7f0000007000 r
7f0000006000-7f0000005000 r-xp 00000000 fd:01 8                          /backwards
7f0000007000-7f0000008000 r-xp 0000000g fd:01 8                          /hex
`
	want := []mapping{
		{0x55d0c8a00000, 0x55d0c8a01000, 0x1000, unix.Mkdev(0xfd, 1), 1234, "/usr/bin/a b", false},
		{0x7f0000000000, 0x7f0000001000, 0, unix.Mkdev(0, 0x2f), 99, "/tmp/x", true},
		{0x7f0000003000, 0x7f0000004000, 0, unix.Mkdev(0, 1), 7, "/dev/zero (deleted)", true},
		{0x7f0000005000, 0x7f0000006000, 0, unix.Mkdev(0xfd, 1), 8, "/a\nb", false},
	}
	got, err := parseMaps(strings.NewReader(text))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d mappings, %v: %+v", len(got), err, got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("mapping %+v, want %+v", got[i], want[i])
		}
	}
}

// start runs a program built from testdata/wait.c and returns its process id
// and the two addresses that it prints.
func start(t *testing.T, path string) (pid int, main, zeros uint64) {
	t.Helper()
	cmd := exec.Command(path)
	stdin, stdout := testbin.Talk(t, cmd)
	t.Cleanup(func() {
		stdin.Close() // ends the program
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "0x%x 0x%x", &main, &zeros); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return cmd.Process.Pid, main, zeros
}

func TestModules(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"-pie", "-no-pie", "-static", "-static-pie"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			built := compile(t, "gcc", mode, "-fPIE", "-O1", "testdata/wait.c")
			path := filepath.Join(filepath.Dir(built), "a program (deleted)")
			if err := os.Rename(built, path); err != nil {
				t.Fatal(err)
			}
			pid, main, zeros := start(t, path)
			check := func(state string, deleted bool) {
				t.Helper()
				ms, err := Modules(pid)
				if err != nil {
					t.Fatalf("%s: %v", state, err)
				}
				m, ok := Find(ms, main)
				if !ok {
					t.Fatalf("%s: %#x is in no module of %+v", state, main, ms)
				}
				if m.Path != path || m.Deleted != deleted {
					t.Errorf("%s: path %q, deleted %t", state, m.Path, m.Deleted)
				}
				if got := m.Object().Symbol("main"); len(got) != 1 || m.Addr(got[0]) != main || m.VAddr(main) != got[0] {
					t.Errorf("%s: main at %#x, bias %#x; want %#x", state, got, m.Bias, main)
				}
				if name, ok := m.Object().DataAt(m.VAddr(zeros)); name != "zeros" || !ok || !m.Contains(zeros) {
					t.Errorf("%s: zero-filled datum %q, %t", state, name, ok)
				}
				if fi, err := os.Stat(m.HostPath); err != nil || fi.Size() == 0 {
					t.Errorf("%s: host path %s: %v", state, m.HostPath, err)
				}
				again, err := Modules(pid)
				if n, _ := Find(again, main); err != nil || n == nil || n.Object() != m.Object() {
					t.Errorf("%s: the object is not shared", state)
				}
				libc := false
				for _, m := range ms {
					libc = libc || strings.HasPrefix(filepath.Base(m.Path), "libc.so")
				}
				if static := strings.HasPrefix(mode, "-static"); libc == static {
					t.Errorf("%s: libc among modules: %t", state, libc)
				}
				for _, addr := range []uint64{0, 1, ms[0].Start - 1, 1<<64 - 1} {
					if m, ok := Find(ms, addr); ok {
						t.Errorf("%s: %#x found in %s", state, addr, m.Path)
					}
				}
			}
			check("running", false)
			other := compile(t, "gcc", "-O0", "testdata/data.c")
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
			check("replaced", true)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			check("deleted", true)
		})
	}
}

func TestModulesOfNobody(t *testing.T) {
	if ms, err := Modules(1 << 30); err == nil {
		t.Errorf("modules %+v of a process that cannot exist", ms)
	}
}

// TestExecutable: the executable is opened once, whoever asks for it first.
func TestExecutable(t *testing.T) {
	p := NewProcess(os.Getpid())
	o, err := p.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mods, err := p.Modules()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(mods, func(m Module) bool { return m.Object() == o }) {
		t.Error("the executable is not the object of a module")
	}
}

func TestOverlaps(t *testing.T) {
	mapped := []Module{{Start: 0x1000, End: 0x2000}, {Start: 0x5000, End: 0x8000}}
	for _, c := range []struct {
		start, end uint64
		want       bool
	}{
		{0, 0x1000, false}, {0, 0x1001, true}, {0x1000, 0x1001, true}, {0x1800, 0x1900, true}, {0x2000, 0x5000, false},
		{0x1fff, 0x3000, true}, {0x2000, 0x5001, true}, {0x4000, 0x9000, true}, {0x8000, 0x9000, false}, {0x7fff, 0x9000, true},
	} {
		if got := Overlaps(mapped, &Module{Start: c.start, End: c.end}); got != c.want {
			t.Errorf("%#x to %#x: %t", c.start, c.end, got)
		}
	}
	if Overlaps(nil, &mapped[0]) {
		t.Error("of nothing")
	}
}
