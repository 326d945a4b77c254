package user

import (
	"fmt"
	"slices"
	"strings"

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

// findFunctions finds the probes of functions.
func (u *Regions) findFunctions(mod *symbols.Module) (points []probes.CodePoint) {
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
		u.place(o, f.VAddr, Place{Name: f.Names[0], Notes: functionNotes(f, fp)})
		points = append(points, fp.Points...)
	}
	if len(chosen) > 0 {
		u.logf("%s: %d functions are user regions, by %d probes, %d of them single-stepped", mod.Path, len(chosen), len(points), dear)
	}
	return points
}

// selects tells whether any pattern selects a function, and marks the patterns that do.
func (u *Regions) selects(wanted []*pattern, f symbols.Function, own func(symbols.Function) bool) (yes bool) {
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
