package plans

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"testing"

	"ompp-attach/collect/selection"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/probes"
	"ompp-attach/probes/mpilib"
	"ompp-attach/probes/openmp"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

// kernelSide counts the plans that it is given, and answers with err.
type kernelSide struct {
	stored  int
	err     error
	derives bool
}

func (k *kernelSide) DerivesEnds() bool { return k.derives }

func (k *kernelSide) Selection() *selection.Selection { return nil }
func (k *kernelSide) LogsCalls() bool                 { return false }
func (k *kernelSide) Logf(string, ...any)             {}
func (k *kernelSide) LoadMPI() error                  { return errors.ErrUnsupported }

func (k *kernelSide) Store(p *probes.Plan) (*probes.Attached, error) {
	k.stored++
	if k.err != nil {
		return nil, k.err
	}
	return &probes.Attached{Plan: p}, nil
}

func (k *kernelSide) Alter(change func()) { change() }

func (k *kernelSide) StoreMPI(*mpilib.Plan) (*mpilib.Attached, error) {
	return nil, errors.ErrUnsupported
}

// itself returns the test's own executable as a process maps it.
func itself(t *testing.T) *symbols.Module {
	t.Helper()
	mods, err := symbols.Modules(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for i := range mods {
		if mods[i].Object().IsExecutable() {
			return &mods[i]
		}
	}
	t.Fatal("the test's executable is not mapped")
	return nil
}

// loaded starts a process that loads a library, and returns the library as the process maps it.
func loaded(t *testing.T, library string) (mod *symbols.Module) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+library)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	testbin.Until(t, "a process maps "+library, func() bool {
		mods, _ := symbols.Modules(cmd.Process.Pid)
		for i := range mods {
			if openmp.Named(mods[i].Path) {
				mod = &mods[i]
			}
		}
		return mod != nil
	})
	return mod
}

// startOfNew returns where the code of New begins in the test's executable.
func startOfNew(mod *symbols.Module) uint64 {
	return mod.VAddr(uint64(reflect.ValueOf(New).Pointer()))
}

// at finds one place: the instruction at an address of the file, or none if the address is 0.
func at(vaddr uint64, asked *int) Finder {
	return func(*symbols.Module) (points []probes.CodePoint) {
		if *asked++; vaddr != 0 {
			points = append(points, probes.CodePoint{VAddr: vaddr, Identity: vaddr, Construct: event.UserRegion, Edge: event.Open})
		}
		return points
	}
}

// A file's plan is made once, and so is the attempt to make a plan that fails. A file in whose code
// nothing is found has no plan, and is plain.
func TestMadeOnce(t *testing.T) {
	mod := itself(t)
	refused := errors.New("no room")
	for _, c := range []struct {
		name           string
		at             uint64
		err            error
		stored         int
		planned, plain bool
	}{
		{name: "stored", at: startOfNew(mod), stored: 1, planned: true},
		{name: "refused", at: startOfNew(mod), err: refused, stored: 1},
		{name: "nothing found", plain: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, asked := &kernelSide{err: c.err}, 0
			f := New(k)
			f.Find(at(c.at, &asked))
			for range 2 {
				plan, err := f.Code(mod, false)
				if plan != nil != c.planned || !errors.Is(err, c.err) {
					t.Errorf("plan %v, %v; want one: %v, with error %v", plan, err, c.planned, c.err)
				}
				if plain := f.AllPlain([]symbols.Module{*mod}); plain != c.plain {
					t.Errorf("plain: %v, want %v", plain, c.plain)
				}
			}
			if k.stored != c.stored || asked != 1 {
				t.Errorf("%d plans stored, the finder asked %d times; want %d, and once", k.stored, asked, c.stored)
			}
		})
	}
}

// Markers that switch measurement off or on hide the events that tell of loops, in all files of a
// process. Other probes do only on the way to a loop.
func TestTells(t *testing.T) {
	mod := itself(t)
	for edge, switches := range map[event.Edge]bool{event.Off: true, event.On: true, event.Enter: false} {
		f := New(&kernelSide{})
		f.Find(func(*symbols.Module) []probes.CodePoint {
			return []probes.CodePoint{{VAddr: startOfNew(mod), Construct: event.UserRegion, Edge: edge}}
		})
		if got := f.Switches([]symbols.Module{*mod}); got != switches || !f.Tells(mod) {
			t.Errorf("%s: switches %t, want %t; tells %t", edge, got, switches, f.Tells(mod))
		}
	}
}

// Without finders, a program that uses no runtime is plain.
func TestPlainWithoutFinders(t *testing.T) {
	if !New(&kernelSide{}).Plain(itself(t)) {
		t.Error("the test's own executable, which uses no runtime, is not plain")
	}
}

// A runtime's plan is made anew only after ForgetRuntimes. A program is no runtime.
func TestForgetRuntimes(t *testing.T) {
	k := &kernelSide{}
	f := New(k)
	if plan, err := f.Runtime(itself(t), nil); plan != nil || err != nil || k.stored != 0 {
		t.Errorf("plan %v, %v of a program that is no runtime", plan, err)
	}
	mod := loaded(t, probestest.Libgomps(t)[0])
	imported := func(string) bool { return true }
	for made := 1; made <= 2; made++ {
		for range 2 {
			if plan, err := f.Runtime(mod, imported); err != nil || plan == nil || plan.Plan.Runtime != event.Gomp {
				t.Fatalf("plan %v, %v; want one of libgomp", plan, err)
			}
			if k.stored != made {
				t.Errorf("%d plans stored, want %d", k.stored, made)
			}
		}
		f.ForgetRuntimes()
	}
	if f.Plain(mod) {
		t.Error("libgomp is plain")
	}
}

// Places of their own for libomp's ends are probed where ends may be derived. The program must have
// no tasks, and no file of it may fork teams as code of GCC does.
func TestWhereEndsAreDerived(t *testing.T) {
	mod := loaded(t, probestest.Libomps(t)[0])
	if mod.Object().Arch() != "amd64" {
		t.Skip("the places are known on x86-64")
	}
	for _, c := range []struct {
		derives  bool
		imported string
		want     bool
	}{
		{true, "__kmpc_fork_call", true}, {false, "__kmpc_fork_call", false}, {true, "__kmpc_omp_task", false},
		{true, "GOMP_parallel", false}, {true, "GOMP_parallel_loop_dynamic", false}, {true, "GOMP_parallel_start", false},
	} {
		f := New(&kernelSide{derives: c.derives})
		a, err := f.Runtime(mod, func(name string) bool { return name == c.imported })
		if err != nil || a == nil {
			t.Fatalf("%+v: plan %v, %v", c, a, err)
		}
		got := slices.ContainsFunc(a.Plan.Placements, func(p probes.Placement) bool { return p.Symbol == "[__kmp_join_call]" })
		if got != c.want {
			t.Errorf("derives %t, %s imported: probed by thread %t, want %t", c.derives, c.imported, got, c.want)
		}
	}
}
