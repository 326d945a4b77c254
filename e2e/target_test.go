package e2e

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/profile"
)

const targetThreads = 2

// target is a program that the test started by itself.
type target struct {
	cmd      *exec.Cmd
	stdout   output
	stderr   output
	runtimes string            // folder of the OpenMP runtimes that it loads
	code     map[string][]byte // mapping -> its bytes before the tool came
}

// launch starts a program with OpenMP runtimes of its own, and waits until it is in its work. Its
// runtimes' code shows the probes of this test's tools only.
func launch(t *testing.T, bin string, args ...string) *target {
	t.Helper()
	return launchWith(t, ownRuntimes(t), bin, args...)
}

// ownRuntimes copies the tests' OpenMP runtimes.
func ownRuntimes(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(runtimes)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// launchWith is launch with the runtimes of a folder. The program is in its work when it has as
// many threads as its teams.
func launchWith(t *testing.T, runtimes, bin string, args ...string) *target {
	t.Helper()
	tg := &target{cmd: exec.Command(bin, args...), runtimes: runtimes}
	tg.cmd.Env = append(append(os.Environ(), threadsEnv(targetThreads)...), "LD_LIBRARY_PATH="+runtimes)
	tg.cmd.Stdout, tg.cmd.Stderr = &tg.stdout, &tg.stderr
	if err := tg.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.cmd.Process.Kill() })
	tg.team(t)
	tg.code = tg.readCode(t)
	return tg
}

// team waits until the target has as many threads as its teams.
func (tg *target) team(t *testing.T) {
	t.Helper()
	until(t, "the target has its team", func() bool {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", tg.pid()))
		return len(tasks) >= targetThreads
	})
}

func (tg *target) pid() int { return tg.cmd.Process.Pid }

// aLongTime is how long a test's program may run, in seconds. The test ends the program earlier,
// when it has seen enough (method enough). Before that, the test may wait for several events, for
// each of them as long as testbin.Patience.
const aLongTime = "600"

// enough ends longrun, and checks its result.
func (tg *target) enough(t *testing.T) {
	t.Helper()
	_ = tg.cmd.Process.Signal(syscall.SIGUSR1)
	tg.right(t)
}

// right waits for the target's end and checks its own result: longrun compares
// what its threads did with how often it repeated.
func (tg *target) right(t *testing.T) {
	t.Helper()
	if err := tg.cmd.Wait(); err != nil {
		t.Fatalf("the target: %v\n%s%s", err, tg.stdout.String(), tg.stderr.String())
	}
	if n, err := strconv.Atoi(strings.TrimSpace(tg.stdout.String())); err != nil || n == 0 {
		t.Errorf("the target did %q iterations", tg.stdout.String())
	}
}

// same tells whether the target's own runtime is as it was.
func (tg *target) same(is map[string][]byte) bool {
	for name, code := range is {
		if strings.HasPrefix(name, tg.runtimes) && !bytes.Equal(code, tg.code[name]) {
			return false
		}
	}
	return true
}

// readCode returns the contents of the target's executable mappings of files.
func (tg *target) readCode(t *testing.T) map[string][]byte {
	t.Helper()
	code, err := codeOf(tg.pid())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// codeOf reads the code that a process maps from files, by file and offset.
func codeOf(pid int) (map[string][]byte, error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	code := map[string][]byte{}
	for _, line := range strings.Split(string(maps), "\n") {
		var lo, hi uint64
		f := strings.Fields(line)
		if len(f) < 6 || !strings.Contains(f[1], "x") || !strings.HasPrefix(f[5], "/") {
			continue
		}
		if _, err := fmt.Sscanf(f[0], "%x-%x", &lo, &hi); err != nil {
			return nil, fmt.Errorf("mapping %q: %w", line, err)
		}
		bytes := make([]byte, hi-lo)
		if _, err := mem.ReadAt(bytes, int64(lo)); err != nil {
			return nil, err
		}
		code[f[5]+" "+f[2]] = bytes
	}
	return code, nil
}

// passed reads, in the memory of a process that runs longrun or ranks, how often threads have
// executed its region. In a team of two, an execution counts twice.
func passed(t *testing.T, pid int) uint64 {
	t.Helper()
	at, err := addressIn(pid, "passed")
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	var b [8]byte
	if _, err := mem.ReadAt(b[:], int64(at)); err != nil {
		t.Fatalf("reading memory of process %d: %v", pid, err)
	}
	return binary.NativeEndian.Uint64(b[:])
}

// addressIn returns where a variable of a process's program is in its memory.
func addressIn(pid int, variable string) (uint64, error) {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	f, err := elf.Open(exe)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == variable })
	name, err := os.Readlink(exe)
	if err != nil || i < 0 {
		return 0, fmt.Errorf("%s: no variable %s (%v)", name, variable, err)
	}
	if f.Type == elf.ET_EXEC {
		return symbols[i].Value, nil
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		var begin uint64
		// The first mapping of a program that may lie anywhere is that of its first byte.
		if _, err := fmt.Sscanf(line, "%x-", &begin); err == nil && strings.HasSuffix(line, " "+name+"\n") {
			return begin + symbols[i].Value, nil
		}
	}
	return 0, fmt.Errorf("process %d does not map %s", pid, name)
}

// untilPassed waits until the threads of a process that runs longrun or ranks have executed many
// more of its regions. On a busy machine that may take seconds.
func untilPassed(t *testing.T, pid, regions int) {
	t.Helper()
	enough := passed(t, pid) + uint64(regions*targetThreads)
	until(t, fmt.Sprintf("the program has executed %d regions", regions), func() bool { return passed(t, pid) >= enough })
}

// longEnough measures until a measurement has seen enough, each time for four times as long as
// before, up to 64 times as long. On a busy machine a program may get no core in a short
// measurement. A tool that records nothing, however long it measures, is left to the test's other
// checks.
func longEnough(measure func(times int) (enough bool)) {
	for times := 1; times <= 64 && !measure(times); times *= 4 {
	}
}

// attachFor attaches until a profile has enough, for some time at first, then for longer.
func (tg *target) attachFor(t *testing.T, least time.Duration, enough func(*profile.Profile) bool) (p *profile.Profile) {
	t.Helper()
	longEnough(func(times int) bool {
		d := least * time.Duration(times)
		p = start(t, "attach", "--duration", d.String(), "--pid", strconv.Itoa(tg.pid())).profile(t)
		return enough(p)
	})
	return p
}

// attachWhile attaches, and detaches when each of the processes, which run longrun or ranks, has
// executed some regions while it was measured.
func attachWhile(t *testing.T, regions int, pids []int, args ...string) *started {
	t.Helper()
	s := start(t, append([]string{"attach", "--quiet=false"}, args...)...)
	until(t, "the tool attaches", func() bool { return strings.Contains(s.stderr.String(), "attached to") })
	for _, pid := range pids {
		untilPassed(t, pid, regions)
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	return s
}

// placed waits until a tool has placed probes in the target.
func (tg *target) placed(t *testing.T) {
	t.Helper()
	until(t, "probes are placed", func() bool {
		code, err := codeOf(tg.pid())
		return err == nil && !tg.same(code)
	})
}

// manyRegions are as many regions of longrun as it executes in a tenth of a second.
const manyRegions = 50

// probed waits until a tool has placed probes in longrun, and then for many of its regions.
func (tg *target) probed(t *testing.T) {
	t.Helper()
	tg.placed(t)
	untilPassed(t, tg.pid(), manyRegions)
}
