package collect

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"ompp-attach/bpf"
	"ompp-attach/probes"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// The most functions that can be user regions at once. Each takes some three probes, and the kernel
// side has 32768 rows. Placing 4000 probes takes 30 ms. Where every probe is a perf event, closing
// one takes 140 ms.
const (
	maxFunctions     = 2000
	maxFunctionsPerf = 50
)

// userPlace is what reports show of a user region.
type userPlace struct {
	name  string
	notes []string
	lines *symbols.Extent // of a region given by lines; else nil
	near  bool            // it begins at another line than the one given
}

// UserRegions are the regions that the user asked for, and where they were found. mu guards the
// fields below it; see the package comment.
type UserRegions struct {
	// Notice tells the user at once about a mistake for which he may want to stop the measurement.
	Notice func(sentence string)
	logf   func(format string, args ...any)

	mu       sync.Mutex
	patterns []*pattern
	lines    []*lineRegion
	found    int // number of functions that were selected
	most     int // limit of found
	refusal  error
	unseen   []profile.Unseen
	places   map[*symbols.Object]map[uint64]userPlace // by identity
}

// NewUserRegions takes functions, as plain names or regular expressions, and regions given by
// lines. The error is a sentence that names what cannot be understood. logf receives the messages
// of --verbose.
func NewUserRegions(functions, lines []string, logf func(string, ...any)) (*UserRegions, error) {
	u := &UserRegions{Notice: func(string) {}, logf: logf, places: map[*symbols.Object]map[uint64]userPlace{}}
	for _, text := range functions {
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		u.patterns = append(u.patterns, p)
	}
	for _, text := range lines {
		r, err := parseLines(text)
		if err != nil {
			return nil, err
		}
		u.lines = append(u.lines, r)
	}
	return u, nil
}

// SetUserRegions makes the measurement probe user regions. It must be called before the measurement
// starts.
func (m *Measurement) SetUserRegions(u *UserRegions) {
	m.user = u
	if u.most = maxFunctions; m.kernel.Mode() == bpf.Perf {
		u.most = maxFunctionsPerf
	}
	if len(u.patterns) > 0 {
		m.AddFinder(u.findFunctions)
	}
	if len(u.lines) > 0 {
		m.AddFinder(u.findLines)
	}
	m.AddFinder(u.findMarkers)
}

// findFunctions is the CodeFinder for functions.
func (u *UserRegions) findFunctions(mod *symbols.Module) (points []probes.CodePoint) {
	u.mu.Lock()
	defer u.mu.Unlock()
	o := mod.Object()
	var wanted []*pattern
	for _, p := range u.patterns {
		switch {
		case p.covers(mod):
			wanted = append(wanted, p)
		case p.name != "" && len(o.Symbol(p.name)) > 0 && p.system == "":
			p.system = mod.Path
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	own := ownFunction(o)
	var chosen []symbols.Function
	for _, f := range o.Functions() {
		if u.selects(wanted, f, own) {
			chosen = append(chosen, f)
		}
	}
	for _, p := range wanted {
		if !p.matched {
			p.inlined = append(p.inlined, inlinedOnly(o, p)...)
		}
	}
	if u.found += len(chosen); u.found > u.most {
		u.refusal = fmt.Errorf("--function matches %d functions so far, in %s and before, and at most %d can be probed at once: name them more closely, for instance ^solve, ^Grid::, or NAME@libfoo.so", u.found, mod.Path, u.most)
		return nil
	}
	dear := 0
	for _, f := range chosen {
		fp, err := probes.ProbeFunction(o, f.Names[0], f.VAddr)
		if err != nil {
			u.logf("%s: %s is not measured: %v", mod.Path, f.Names[0], err)
			u.unseen = append(u.unseen, profile.Unseen{What: "function " + f.Names[0], Reason: err.Error()})
			continue
		}
		if fp.Dear > 0 {
			u.logf("%s: %s: %d of its %d probes sit on instructions that the kernel single-steps (some 10 us a hit on virtual machines)", mod.Path, f.Names[0], fp.Dear, len(fp.Points))
		}
		dear += fp.Dear
		u.place(o, f.VAddr, userPlace{name: f.Names[0], notes: functionNotes(f, fp)})
		points = append(points, fp.Points...)
	}
	if len(chosen) > 0 {
		u.logf("%s: %d functions are user regions, by %d probes, %d of them single-stepped", mod.Path, len(chosen), len(points), dear)
	}
	return points
}

func (u *UserRegions) place(o *symbols.Object, identity uint64, p userPlace) {
	if u.places[o] == nil {
		u.places[o] = map[uint64]userPlace{}
	}
	u.places[o][identity] = p
}

// selects tells whether any pattern selects a function, and marks the patterns that do.
func (u *UserRegions) selects(wanted []*pattern, f symbols.Function, own func(symbols.Function) bool) (yes bool) {
	for _, p := range wanted {
		switch {
		case p.matches(f.Names) && (p.name != "" || p.file != "" || own(f)):
			p.matched, yes = true, true
		case !p.matched:
			p.suggest(f.Names[0])
		}
	}
	return yes
}

// ownFunction returns a function that tells the program's functions from those of a runtime or of
// libc that are linked into it.
func ownFunction(o *symbols.Object) func(symbols.Function) bool {
	static := o.IsExecutable() && o.Interpreter() == ""
	lines := o.HasDWARF()
	return func(f symbols.Function) bool {
		symbol := f.Names[len(f.Names)-1]
		for _, prefix := range []string{"GOMP_", "gomp_", "omp_", "GOACC_", "goacc_", "acc_", "__kmp", "kmp_", "ompt_"} {
			if o.IsExecutable() && strings.HasPrefix(symbol, prefix) {
				return false
			}
		}
		if !static || !lines {
			return true
		}
		_, ok := o.Definition(f.VAddr)
		return ok
	}
}

// inlinedOnly lists functions that the pattern would match if the compiler had not inlined them
// everywhere.
func inlinedOnly(o *symbols.Object, p *pattern) (found []string) {
	const few = 3
	for symbol := range o.Inlined() {
		if names := symbols.FunctionNames(symbol); len(found) < few && p.matches(names) {
			found = append(found, names[0])
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func functionNotes(f symbols.Function, fp probes.FunctionProbes) (notes []string) {
	if f.Part {
		notes = append(notes, "the compiler inlined the head of this function into its callers: executions that ended there are not counted")
	}
	if fp.Unseen > 0 {
		notes = append(notes, "this function has an end that no probe can tell, a jump under a condition: such executions are counted, their time may reach to the thread's next event")
	}
	return notes
}

// Unmatched returns a sentence for each pattern or region that was not found so far, with the
// reason.
func (u *UserRegions) Unmatched() (sentences []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range u.patterns {
		if !p.matched {
			sentences = append(sentences, p.unmatched())
		}
	}
	for _, r := range u.lines {
		if !r.matched {
			sentences = append(sentences, r.unmatched())
		}
	}
	return sentences
}
