package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// nobody is an ordinary user that every Debian has, and that owns nothing.
const nobody = 65534

// user is somebody with a directory, the tool in PATH, and no privileges.
type user struct {
	id  int // -1: who runs the tests
	dir string
	env []string
}

// newUser makes the directory, with a copy of the tool and of the runtimes:
// those of the other tests are closed to other users.
func newUser(t *testing.T, id int) *user {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	dir, err := os.MkdirTemp("", "ompp-user-") // t.TempDir lets nobody else in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	u := &user{id: id, dir: dir}
	u.env = append(os.Environ(), "HOME="+dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"),
		"LD_LIBRARY_PATH="+filepath.Join(dir, "lib"), "OMP_NUM_THREADS=2", "OMPI_MCA_rmaps_base_oversubscribe=1")
	u.copy(t, tool, "bin/ompp-attach")
	libs, _ := filepath.Glob(filepath.Join(runtimes, "*"))
	for _, lib := range libs {
		u.copy(t, lib, "lib/"+filepath.Base(lib))
	}
	for _, d := range []string{dir, filepath.Join(dir, "bin"), filepath.Join(dir, "lib")} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if id >= 0 {
		if err := os.Chown(dir, id, id); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// copy puts a file into the user's directory.
func (u *user) copy(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to = filepath.Join(u.dir, to)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	testbin.Executable(t, to, b)
}

// script puts a program into the user's PATH.
func (u *user) script(t *testing.T, name, text string) {
	t.Helper()
	testbin.Executable(t, filepath.Join(u.dir, "bin", name), []byte("#!/bin/sh\n"+text+"\n"))
}

// command is a line that the user types into a shell.
func (u *user) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = u.dir, u.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if u.id >= 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(u.id), Gid: uint32(u.id)}
	}
	return cmd
}

// shell runs a line and returns its exit status and all that it prints.
func (u *user) shell(t *testing.T, line string) (status int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := u.command(ctx, line)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", line, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// must is a line that succeeds.
func (u *user) must(t *testing.T, line string) string {
	t.Helper()
	status, out := u.shell(t, line)
	if status != 0 {
		t.Fatalf("%s: exit status %d\n%s", line, status, out)
	}
	return out
}

// start lets a line run in the background, at most until the test ends. It has
// printed ready as often as asked.
func (u *user) start(t *testing.T, line string, ready int) (pid int, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := u.command(ctx, "exec "+line)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		_ = cmd.Wait()
		out.Close()
	})
	t.Cleanup(stop)
	until(t, line+" runs", func() bool {
		b, err := os.ReadFile(out.Name())
		return err == nil && bytes.Count(b, []byte("ready")) >= ready
	})
	return cmd.Process.Pid, stop
}

var advised = regexp.MustCompile(`sudo (setcap \S+ \S+)`)

// follow does as root what check advises the user.
func (u *user) follow(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("setcap"); err != nil {
		t.Skip("package libcap2-bin is not installed: no setcap")
	}
	status, out := u.shell(t, "ompp-attach check")
	advice := advised.FindStringSubmatch(out)
	if status == 0 || advice == nil {
		t.Fatalf("exit status %d, no advice for setcap in\n%s", status, out)
	}
	if msg, err := exec.Command("sh", "-c", advice[1]).CombinedOutput(); err != nil {
		t.Skipf("%s: %v: %s", advice[1], err, msg) // a file system without capabilities
	}
}

// With exactly the capabilities that the tool asks for, everything works for somebody who is not
// root. The program that is launched has its whole environment, of which glibc takes a part from a
// tool with capabilities.
func TestSetcapAsAdvised(t *testing.T) {
	atOnce(t)
	needTool(t)
	u := newUser(t, nobody)
	u.follow(t)
	if out := u.must(t, "ompp-attach check"); !strings.Contains(out, "can measure programs here") {
		t.Errorf("check says\n%s", out)
	}
	u.copy(t, testbin.Build(t, "longrun.c", testbin.Options{}), "longrun")

	t.Run("run", func(t *testing.T) {
		if out := u.must(t, "ompp-attach run -q -o run -- sh -c 'echo $LD_LIBRARY_PATH; ./longrun 0.2'"); !strings.Contains(out, filepath.Join(u.dir, "lib")) {
			t.Errorf("the program lacks LD_LIBRARY_PATH: %s", out)
		}
		names, _ := filepath.Glob(filepath.Join(u.dir, "run", "profile*.json.gz"))
		if len(names) != 1 {
			t.Fatalf("profiles: %v", names)
		}
		p := decode(t, names[0])
		if regionsOf(p) == 0 || !strings.HasPrefix(p.Meta.Runtimes[0].Path, u.dir) {
			t.Errorf("%d regions of %s", regionsOf(p), p.Meta.Runtimes[0].Path)
		}
	})
	t.Run("attach", func(t *testing.T) {
		pid, _ := u.start(t, "./longrun "+aLongTime, 0)
		until(t, "the process can be measured", func() bool {
			status, _ := u.shell(t, fmt.Sprintf("ompp-attach check --pid %d", pid))
			return status == 0
		})
		// On a busy machine the program may have no core for half a second.
		for duration := 500 * time.Millisecond; ; duration *= 8 {
			dir := "attached" + duration.String()
			u.must(t, fmt.Sprintf("ompp-attach attach -q --pid %d --duration %s -o %s", pid, duration, dir))
			if regionsOf(decode(t, filepath.Join(u.dir, dir, "profile.json.gz"))) > 0 {
				break
			}
			if duration > 30*time.Second {
				t.Fatal("no region")
			}
		}
	})
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		name := filepath.Base(mpirun)
		solver := "./solver." + name
		u.copy(t, bin, solver)
		u.must(t, name+" -n 2 ompp-attach run -q -o "+name+"1 -- "+solver+" count 5")
		u.must(t, "ompp-attach run -q -o "+name+"2 -- "+name+" -n 2 "+solver+" count 5")
		for _, dir := range []string{"1", "2"} {
			for rank, p := range profilesIn(t, filepath.Join(u.dir, name+dir), 2) {
				if got, want := regionsOf(p), uint64(5*(rank+1)); got != want {
					t.Errorf("rank %d: %d regions, want %d", rank, got, want)
				}
			}
		}
		pid, _ := u.start(t, name+" -n 2 "+solver+" until "+aLongTime, 2)
		u.must(t, fmt.Sprintf("ompp-attach attach -q --job %d --duration 500ms -o %s3", pid, name))
		profilesIn(t, filepath.Join(u.dir, name+"3"), 2)
	})
}

// whereAndHowLong are the parts of a command for which tests have their own, and
// what differs without being of interest.
var whereAndHowLong = regexp.MustCompile(` -o \S+| --duration \S+| input.dat`)

// The commands for jobs in README and documents are typed as they stand there. They are typed by
// root and by a user whose tool has capabilities, under both MPI libraries.
func TestDocumentedJobs(t *testing.T) {
	atOnce(t)
	var user, root []string
	for _, name := range []string{"README.md", "docs/mpi.md"} {
		text, err := os.ReadFile(filepath.Join(testbin.Repo(t), name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line, ok := strings.CutPrefix(line, "    ")
			line, _, _ = strings.Cut(line, "#")
			line = strings.TrimSpace(whereAndHowLong.ReplaceAllString(line, ""))
			switch {
			case !ok || !strings.Contains(line, "mpirun") || slices.Contains(user, line):
			case strings.HasPrefix(line, "sudo "):
				root = append(root, line)
			default:
				user = append(user, line)
			}
		}
	}
	if len(user) < 3 || len(root) < 3 {
		t.Fatalf("commands found: %q, %q", user, root)
	}
	for _, tc := range []struct {
		name  string
		id    int
		lines []string
	}{{"user", nobody, user}, {"root", -1, root}} {
		t.Run(tc.name, func(t *testing.T) {
			eachMPI(t, func(t *testing.T, mpirun, bin string) {
				u := newUser(t, tc.id)
				if tc.id >= 0 {
					u.follow(t)
				}
				u.script(t, "sudo", `exec "$@"`) // we are root already
				u.script(t, "mpirun", "exec "+mpirun+` "$@"`)
				u.copy(t, bin, "ranks")
				u.script(t, "../solver", "exec ./ranks count 5")
				for i, line := range tc.lines {
					u.documented(t, line, filepath.Join(u.dir, fmt.Sprint("out", i)), mpirun)
				}
			})
		})
	}
}

// documented types one command.
func (u *user) documented(t *testing.T, line, dir, mpirun string) {
	t.Helper()
	asRoot := "--allow-run-as-root "
	if strings.HasSuffix(mpirun, "mpich") {
		line = strings.Replace(line, asRoot, "", 1)
	}
	if u.id >= 0 || strings.HasSuffix(mpirun, "mpich") {
		asRoot = ""
	}
	if strings.Contains(line, "attach --job") {
		pid, stop := u.start(t, "mpirun "+asRoot+"-n 4 ./ranks until "+aLongTime, 4)
		defer stop()
		u.script(t, "pgrep", fmt.Sprint("echo ", pid)) // others may run jobs here
		line += " -q --duration 500ms -o " + dir
	}
	u.must(t, strings.Replace(line, "ompp-attach run", "ompp-attach run -q -o "+dir, 1))
	profilesIn(t, dir, 4)
}
