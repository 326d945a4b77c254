package perfcounters

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

// machine imitates sysfs of an x86 processor with a socket-wide unit.
func machine() Machine {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s + "\n")} }
	return NewMachine(fstest.MapFS{
		"cpu/type":                         file("4"),
		"cpu/format/event":                 file("config:0-7"),
		"cpu/format/umask":                 file("config:8-15"),
		"cpu/format/any":                   file("config:21"),
		"cpu/format/split":                 file("config:32-35,40-43"),
		"cpu/format/ldlat":                 file("config1:0-15"),
		"cpu/events/mem-loads":             file("event=0xcd,umask=0x1,ldlat=3"),
		"cpu/events/slow":                  file("event=0x3c"),
		"cpu/events/slow.scale":            file("2.5"),
		"cpu/events/slow.unit":             file("Joules"),
		"uncore_imc/type":                  file("20"),
		"uncore_imc/cpumask":               file("0"),
		"uncore_imc/format/event":          file("config:0-7"),
		"uncore_imc/events/cas_count_read": file("event=0x04"),
		"msr/type":                         file("10"),
		"msr/format/event":                 file("config:0-63"),
		"msr/events/tsc":                   file("event=0x00"),
	})
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in              string
		typ             uint32
		config, config1 uint64
		kind            Kind
	}{
		{in: "cycles", typ: unix.PERF_TYPE_HARDWARE, config: 0},
		{in: "Instructions", typ: unix.PERF_TYPE_HARDWARE, config: 1},
		{in: "cpu-cycles:u", typ: unix.PERF_TYPE_HARDWARE, config: 0},
		{in: "branch-misses", typ: unix.PERF_TYPE_HARDWARE, config: 5},
		{in: "L1-dcache-load-misses", typ: unix.PERF_TYPE_HW_CACHE, config: 0 | 0<<8 | 1<<16},
		{in: "dTLB-stores", typ: unix.PERF_TYPE_HW_CACHE, config: 3 | 1<<8},
		{in: "LLC-prefetch-misses", typ: unix.PERF_TYPE_HW_CACHE, config: 2 | 2<<8 | 1<<16},
		{in: "r01c2", typ: unix.PERF_TYPE_RAW, config: 0x1c2},
		{in: "cpu/event=0xc2,umask=1/", typ: 4, config: 0x1c2},
		{in: "cpu/event=0xc2,umask=1/k", typ: 4, config: 0x1c2},
		{in: "cpu/event=0xc2,any/", typ: 4, config: 0x2000c2},
		{in: "cpu/split=0xa5/", typ: 4, config: 5<<32 | 0xa<<40},
		{in: "cpu/config=0x55,config1=7/", typ: 4, config: 0x55, config1: 7},
		{in: "cpu/mem-loads/", typ: 4, config: 0x1cd, config1: 3},
		{in: "mem-loads", typ: 4, config: 0x1cd, config1: 3},
		{in: "msr/tsc/", typ: 10},
		{in: "faults", typ: unix.PERF_TYPE_SOFTWARE, config: 2, kind: Software},
		{in: "task-clock", typ: unix.PERF_TYPE_SOFTWARE, config: 1, kind: Software},
		{in: "PAPI_TOT_CYC", typ: unix.PERF_TYPE_HARDWARE, config: 0},
		{in: "papi_br_msp", typ: unix.PERF_TYPE_HARDWARE, config: 5},
	} {
		got, err := machine().Parse(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if g := got[0]; len(got) != 1 || g.Name != c.in || g.Type != c.typ || g.Config != c.config || g.Config1 != c.config1 || g.Kind != c.kind {
			t.Errorf("%s: got %+v", c.in, got)
		}
	}
}

func TestParseList(t *testing.T) {
	got, err := machine().Parse(" cycles:u, cpu/event=0xc2,umask=1/k ,page-faults,")
	if err != nil || len(got) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if !got[0].UserOnly || got[0].KernelOnly || !got[1].KernelOnly || got[1].UserOnly {
		t.Errorf("modes: %+v", got)
	}
	a := got[0].Attr()
	if !a.Options.ExcludeKernel || a.Options.ExcludeUser || a.Label != "cycles:u" {
		t.Errorf("attributes of cycles:u: %+v", a)
	}
	if s, _ := machine().Parse("slow"); s[0].Scale != 2.5 || s[0].Unit != "Joules" {
		t.Errorf("scale and unit: %+v", s)
	}
}

// Each refusal is one sentence that says what to do.
func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "empty",
		"cycels":                           "do you mean cycles?",
		"cache-mises":                      "cache-misses",
		"cycles:x":                         ":u (user mode only)",
		"page-faults:u":                    "without telling the modes apart",
		"cycles,instructions,cycles":       "twice",
		"cpu/event=0x100/":                 "has 8 bits",
		"cpu/evnt=1/":                      "event",
		"cpu/event=x/":                     "no number",
		"cpuu/event=1/":                    "do you mean cpu?",
		"uncore_imc/cas_count_read/":       "whole socket",
		"PAPI_L2_DCM":                      "no event of this machine",
		"PAPI_TOT_CYV":                     "PAPI_TOT_CYC",
		"something-entirely-different-yes": "counters` lists them",
	} {
		_, err := machine().Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", in, err, want)
		}
	}
	if _, err := machine().Parse("cycels"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown name is not ErrUnknown: %v", err)
	}
}

func TestFormula(t *testing.T) {
	values := map[string]float64{"instructions": 300, "cycles": 100, "cache-misses": 7, "cache": 1, ExecT: 2, ExecC: 4}
	names := []string{"instructions", "cycles", "cache-misses", "cache"}
	value := func(n string) (float64, bool) { v, ok := values[n]; return v, ok }
	for in, want := range map[string]float64{
		"IPC=instructions/cycles":             3,
		"X=cache-misses - cache":              6,
		"X=cache-misses-cache":                6,
		"MPKI=1000*cache-misses/instructions": 7000.0 / 300,
		"X=(cycles+EXECC)*2/EXECT":            104,
		"X=-cycles+1.5e1":                     -85,
		"X=2e-1*cycles":                       20,
		"instructions/cycles":                 3,
	} {
		f, err := ParseFormula(in, names)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got, ok := f.Eval(value); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, %v; want %v", in, got, ok, want)
		}
	}
	f, err := ParseFormula("X=cycles/cache", names)
	if err != nil {
		t.Fatal(err)
	}
	values["cache"] = 0
	if v, ok := f.Eval(value); ok {
		t.Errorf("dividing by zero gave %v", v)
	}
	delete(values, "cache")
	if v, ok := f.Eval(value); ok {
		t.Errorf("a value that is not known gave %v", v)
	}
}

// Names that begin like others are told apart, and names that are used twice are listed once.
func TestFormulaNames(t *testing.T) {
	f, err := ParseFormula("X=(L1-misses+L1)*L1/L1-misses", []string{"L1", "L1-misses"})
	if err != nil || !slices.Equal(f.Uses, []string{"L1-misses", "L1"}) {
		t.Errorf("%+v, %v; want two names, each once", f, err)
	}
	for _, text := range []string{"X=L12", "X=L1x"} {
		if _, err := ParseFormula(text, []string{"L1"}); !errors.Is(err, ErrFormula) {
			t.Errorf("%q: %v; L1 is another name", text, err)
		}
	}
	if _, err := ParseFormula(`X=L1*"2"`, []string{"L1"}); !errors.Is(err, ErrFormula) {
		t.Errorf("a text in a formula: %v", err)
	}
	f, err = ParseFormula("X=0*L1/L2", []string{"L1", "L2"})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := f.Eval(func(name string) (float64, bool) { return 0, true }); ok {
		t.Errorf("0/0 is %v", v)
	}
}

func TestFormulaRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"X=instructions/cycels": "cycels, which is not counted",
		"X=cycles/0":            "divides by zero",
		"X=cycles/0.0":          "divides by zero",
		"X=cycles/":             "operators",
		"X=(cycles":             "operators",
		"X=cycles%2":            "numbers, names",
		"X=cycles cycles":       "operators",
		"X=1 2":                 "operators",
		"X=f(cycles)":           "f, which is not counted",
		"=1":                    "has no name",
		" =cycles":              "has no name",
		"":                      "has no name",
		"X= ":                   "nothing behind its name",
	} {
		_, err := ParseFormula(in, []string{"cycles", "instructions"})
		if !errors.Is(err, ErrFormula) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", in, err, want)
		}
	}
}

func TestEvaluators(t *testing.T) {
	var got []string
	for _, f := range Evaluators([]Counter{{Name: "cycles"}, {Name: "instructions"}}) {
		got = append(got, f.Name)
	}
	if strings.Join(got, " ") != "IPC GHz" {
		t.Errorf("with cycles and instructions: %v", got)
	}
}

// A unit with two counters takes three events in two turns.
func TestGroups(t *testing.T) {
	list, err := machine().Parse("cycles,page-faults,instructions,branches")
	if err != nil {
		t.Fatal(err)
	}
	got, err := groups(list, func(set []Counter) error {
		if len(set) > 2 {
			return unix.EINVAL
		}
		return nil
	})
	if err != nil || len(got) != 2 || len(got[0]) != 2 || len(got[1]) != 1 || got[1][0].Name != "branches" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := groups(list, func([]Counter) error { return unix.ENOENT }); err == nil || !strings.Contains(err.Error(), "does not count that") {
		t.Errorf("an event that is not there: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"cycles,cpu/event=1,umask=2/u", "r01c2", "a/b=1/", "cpu/split=0xff/", "PAPI_"} {
		f.Add(s)
	}
	m := machine()
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range func() []Counter { l, _ := m.Parse(s); return l }() {
			if c.Name == "" {
				t.Errorf("%q gave a counter without a name", s)
			}
		}
	})
}

func FuzzFormula(f *testing.F) {
	for _, s := range []string{"IPC=instructions/cycles", "X=-(cycles+1e3)*EXECT", "=", "X==1"} {
		f.Add(s, "cycles")
		f.Add(s, "")
	}
	f.Fuzz(func(_ *testing.T, s, name string) {
		if x, err := ParseFormula(s, []string{name, "cycles", "instructions"}); err == nil {
			x.Eval(func(string) (float64, bool) { return 1, true })
		}
	})
}
