package collect

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/collect/plans"
	"ompp-attach/internal/testbin"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// refusing has a kernel side that takes no plans.
type refusing struct {
	planning
	err error
}

func (r refusing) Store(*probes.Plan) (*probes.Attached, error) { return nil, r.err }

func (refusing) DerivesEnds() bool { return false }

type nothing struct{}

func (nothing) Close() error { return nil }

// runtimeOf starts a program and waits until it maps a runtime, whose file it returns.
func runtimeOf(t *testing.T) (pid int, file string) {
	t.Helper()
	cmd := exec.Command(testbin.Build(t, "longrun.c", testbin.Options{}), "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	testbin.Until(t, "the program maps libgomp", func() bool {
		mods, _ := symbols.Modules(cmd.Process.Pid)
		for i := range mods {
			if strings.Contains(mods[i].Path, "libgomp") {
				file = mods[i].Path
			}
		}
		return file != ""
	})
	return cmd.Process.Pid, file
}

// The user is told once of a runtime that cannot be planned, however often its process is scanned.
// A process that was detached from is not scanned.
func TestScanTrouble(t *testing.T) {
	pid, file := runtimeOf(t)
	trouble := errors.New("no such structure")
	m := assemble(&common{logf: func(string, ...any) {}})
	m.placer.plans = plans.New(refusing{planning{m.placer}, trouble})
	p := m.lives.newProcess(pid, m.newProgram(pid, true))
	p.libs = nothing{} // needs the kernel
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if found, err := m.placer.scan(p); found != 0 || !errors.Is(err, trouble) {
				t.Errorf("scan: %d, %v", found, err)
			}
		})
	}
	all.Wait()
	if want := []string{file + ": " + trouble.Error()}; !slices.Equal(p.warnings, want) {
		t.Errorf("warnings %q, want %q", p.warnings, want)
	}
	m.placer.removeProbes(p)
	if found, err := m.placer.scan(p); found != 0 || err != nil {
		t.Errorf("scan after removeProbes: %d, %v", found, err)
	}
	m.profiles.finish(p, "")
	if !slices.Equal(p.program.troubles, p.warnings) {
		t.Errorf("troubles %q: nobody tells of what is not measured", p.program.troubles)
	}
}

// A program that was not stopped may run the next program before we look. Then the next program is
// found, and a later report of its exec makes no other process.
func TestExecToldLate(t *testing.T) {
	follower, err := bpf.NewFollower(bpf.Session)
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	pid, _ := runtimeOf(t)
	m := assemble(&common{follower: follower, logf: func(string, ...any) {}})
	m.placer.plans = plans.New(refusing{planning{m.placer}, errors.New("no such structure")})
	p := m.lives.newProcess(pid, m.newProgram(pid, false))
	p.libs = nothing{} // needs the kernel
	m.lives.live(bpf.Life{Kind: bpf.LifeExec, Pid: uint32(pid), Time: p.found - 1})
	if m.reader.procs[uint32(pid)] != p || p.ended != 0 {
		t.Errorf("the process was retired: %+v", p)
	}
}
