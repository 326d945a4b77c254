package e2e

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/driver"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// strippedProgram builds stripped.c with a stripped libstripped.so, and returns
// with it the library as it was before.
func strippedProgram(t *testing.T, compiler string) (bin, lib, whole string) {
	t.Helper()
	lib = filepath.Join(t.TempDir(), "libstripped.so")
	whole = testbin.Build(t, "libstripped.c", testbin.Options{Compiler: compiler, Flags: []string{"-O2", "-g", "-fPIC", "-shared", "-Wl,--build-id"}})
	if out, err := exec.Command("strip", "-o", lib, whole).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, out)
	}
	bin = testbin.Build(t, "stripped.c", testbin.Options{NoOpenMP: true, Flags: []string{"-O2"}})
	return bin, lib, whole
}

func openObject(t *testing.T, path string) *symbols.Object {
	t.Helper()
	o, err := symbols.OpenObject(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// In code without symbols, a function is told by where it begins, and a region in it by who calls
// it. pprof can name it when it finds the symbols.
func TestStrippedLibrary(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang-19"} {
		t.Run(compiler, func(t *testing.T) {
			bin, lib, whole := strippedProgram(t, compiler)
			// A thread that waits must not spin: while the other thread lacks a core, samples would
			// show the barrier.
			s := clean(t, options{env: append(threadsEnv(2), "OMP_WAIT_POLICY=passive")}, bin, lib)
			kernel := openObject(t, whole).Symbol("kernel")
			if len(kernel) != 1 {
				t.Fatalf("%s has %d functions kernel", whole, len(kernel))
			}
			name := fmt.Sprintf("libstripped.so+%#x", kernel[0])
			checkStrippedSamples(t, s.main, kernel[0])

			text, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
			if err != nil {
				t.Fatal(err)
			}
			_, hot, _ := strings.Cut(string(text), "Hottest Lines")
			wants := []string{"  " + name, " from solve ", "direct (libstripped.so+"}
			if compiler != "gcc" { // libomp's ident_t tells lines
				wants = []string{" apply in " + name, " direct in " + name}
			}
			for _, want := range wants {
				if !strings.Contains(hot, want) {
					t.Errorf("section Hottest Lines lacks %q:\n%s", want, hot)
				}
			}

			id := openObject(t, lib).BuildID()
			symbolDir := filepath.Join(t.TempDir(), id)
			if err := os.Mkdir(symbolDir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(whole, filepath.Join(symbolDir, "libstripped.so")); err != nil {
				t.Fatal(err)
			}
			profile := filepath.Join(s.dir, "profile.samples.pb.gz")
			for path, want := range map[string]string{t.TempDir(): name, filepath.Dir(symbolDir): "kernel"} {
				if got, _ := hottestOf(t, profile, path, "-symbolize=local:force"); got != want {
					t.Errorf("with symbols in %s, pprof shows %s first, want %s", path, got, want)
				}
			}
			// pprof shows only what stands behind the dot.
			inPprof := strings.Replace(name, ".so", "", 1)
			if got, said := hottestOf(t, profile, t.TempDir()); got != inPprof || said != "" {
				t.Errorf("pprof shows %s first, want %s; it complains: %s", got, inPprof, said)
			}
		})
	}
}

func checkStrippedSamples(t *testing.T, p *profile.Profile, kernel uint64) {
	t.Helper()
	var all, in uint64
	for i := range p.Samples {
		s := &p.Samples[i]
		all += s.Count
		f := &p.Frames[s.Stack[0]]
		if filepath.Base(f.Object) == "libstripped.so" && f.Entry == kernel {
			in += s.Count
			if f.Offset < kernel || f.Offset > kernel+200 {
				t.Errorf("%+v is not in the function", f)
			}
		}
	}
	if in < all/2 {
		t.Errorf("%d of %d samples are in kernel", in, all)
	}
	loops := map[string]int{}
	for i := range p.Regions {
		if r := &p.Regions[i]; r.Construct == event.Loop {
			loops[r.Location.Function]++
		}
	}
	if loops["direct"] != 1 {
		t.Errorf("loops by function: %v, want one in direct", loops)
	}
	for _, h := range analysis.HotLines(p) {
		if h.Region < 0 || p.Regions[h.Region].Construct != event.Loop {
			continue
		}
		innermost := h.Lines[0].Callee
		if innermost < 0 {
			innermost = h.Lines[0].Frame
		}
		if p.Frames[innermost].Entry != kernel {
			t.Errorf("the hottest of %+v is %+v, want the kernel", p.Regions[h.Region], p.Frames[innermost])
		}
	}
}

var topRow = regexp.MustCompile(`(?m)^ *\S+ +\S+% +\S+% +\S+ +\S+% +(.*)$`)

// hottestOf returns the first function that pprof lists, and what pprof complains of. It is pprof
// itself, since `go tool pprof` reads no symbols of C.
func hottestOf(t *testing.T, profile, symbolPath string, flags ...string) (function, complaints string) {
	t.Helper()
	t.Setenv("PPROF_BINARY_PATH", symbolPath)
	out := filepath.Join(t.TempDir(), "top")
	f := pprofFlags{flag.NewFlagSet("pprof", flag.ContinueOnError), slices.Concat(flags, []string{"-top", "-output", out, profile})}
	talk := &pprofTalk{t: t}
	if err := driver.PProf(&driver.Options{Flagset: f, UI: talk}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	m := topRow.FindStringSubmatch(string(b))
	if m == nil {
		t.Fatalf("no function in\n%s", b)
	}
	return m[1], talk.complaints
}

// pprofFlags give pprof its arguments.
type pprofFlags struct {
	*flag.FlagSet
	args []string
}

func (f pprofFlags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}

func (f pprofFlags) ExtraUsage() string   { return "" }
func (f pprofFlags) AddExtraUsage(string) {}

func (f pprofFlags) Parse(func()) []string {
	if err := f.FlagSet.Parse(f.args); err != nil {
		return nil
	}
	return f.Args()
}

// pprofTalk logs what pprof says.
type pprofTalk struct {
	t          *testing.T
	complaints string
}

func (u *pprofTalk) ReadLine(string) (string, error)     { return "", io.EOF }
func (u *pprofTalk) Print(args ...any)                   { u.t.Log(args...) }
func (u *pprofTalk) IsTerminal() bool                    { return false }
func (u *pprofTalk) WantBrowser() bool                   { return false }
func (u *pprofTalk) SetAutoComplete(func(string) string) {}

// PrintErr keeps a complaint. pprof also says here where it writes.
func (u *pprofTalk) PrintErr(args ...any) {
	u.t.Log(args...)
	if said := fmt.Sprintln(args...); !strings.HasPrefix(said, "Generating report in") {
		u.complaints += said
	}
}
