package regions

import (
	"regexp"
	"slices"
	"strings"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// function is a function of the file that calls the runtime.
type function struct {
	lo, hi uint64
	name   string // symbol, "" if stripped
	body   []disasm.Inst
	sites  []*site // in order of address
	texts  []symbols.Text

	outlined bool
	extent   symbols.Extent // of an outlined function; zero without lines
	caller   *site          // the call that gets this function as an argument
	inner    *function      // clang's debug variant, which holds the code
	parts    []symbols.Range
	region   int   // of an outlined function
	flow     *flow // made when asked for
}

// site is a call of the runtime, with the known facts about its arguments and its place.
type site struct {
	Site
	call
	in       *function
	fnArg    uint64 // outlined function, 0 if not known
	lockName string
	ident    symbols.Ident
	hasIdent bool
	flags    uint32 // of the ident_t
	frames   []symbols.Frame
	own      bool // the line table has a row that starts at the call
	region   int  // index of its region, -1: none yet
}

// findFunctions decodes the functions that hold candidates. It collects their calls in the order of
// addresses.
func findFunctions(o *symbols.Object, e *entryPoints, candidates []uint64) (fs []*function) {
	last := uint64(0)
	for _, c := range candidates {
		if c < last {
			continue
		}
		lo, hi, ok := o.FuncRange(c)
		if !ok {
			continue
		}
		last = hi
		name, start, _ := o.FuncAt(lo)
		if start != lo {
			name = ""
		}
		if e.ofRuntime(name) {
			continue
		}
		f := &function{lo: lo, hi: hi, name: name}
		f.body, _ = disasm.Func(o, lo) // the code before the first part that cannot be decoded
		f.findSites(o, e)
		if len(f.sites) > 0 {
			fs = append(fs, f)
		}
	}
	return fs
}

func (f *function) findSites(o *symbols.Object, e *entryPoints) {
	values.Constants(f.body, func(i disasm.Inst, arg func(int) (uint64, bool)) {
		name, ok := destination(i, e)
		if !ok {
			return
		}
		c, _ := callOf(name)
		s := &site{call: c, in: f, region: -1}
		s.Site = Site{Call: name, Addr: i.Addr, Return: i.Next(), Start: c.role == opens || c.role == waits,
			Tail: i.Control != disasm.Call && i.Control != disasm.CallIndirect}
		get := func(n int) uint64 {
			if n == 0 {
				return 0
			}
			v, _ := arg(n - 1)
			return v
		}
		s.fnArg = get(c.fn)
		if v := get(c.lock); v != 0 {
			s.lockName = CriticalName(o, v)
		}
		if v := get(c.loc); v != 0 {
			s.ident, s.hasIdent = o.Ident(v)
			s.flags = s.ident.Flags
		}
		s.frames = o.Frames(i.Addr)
		_, _, s.own, _ = o.Line(i.Addr)
		f.sites = append(f.sites, s)
	})
}

// destination returns the runtime function to which an instruction leads.
func destination(i disasm.Inst, e *entryPoints) (string, bool) {
	switch i.Control {
	case disasm.Call, disasm.Jump, disasm.Jcc:
		name, ok := e.code[i.Target]
		return name, ok
	case disasm.CallIndirect, disasm.JumpIndirect:
		if i.Ref != 0 {
			return e.slot(i.Ref)
		}
	}
	return "", false
}

// CriticalName returns the name of the critical section whose lock is at vaddr, and "" if the
// section has no name. Both compilers keep the lock in a variable .gomp_critical_user_NAME (clang
// adds .var).
func CriticalName(o *symbols.Object, vaddr uint64) string {
	v, ok := o.DataAt(vaddr)
	if !ok {
		return ""
	}
	if v, ok = strings.CutPrefix(v, ".gomp_critical_user_"); !ok {
		return ""
	}
	return strings.TrimSuffix(v, ".var")
}

// The names that compilers give to outlined functions: GCC f._omp_fn.0, clang 14 .omp_outlined..2,
// clang 19 f.omp_outlined, tasks .omp_task_entry..3. Text after such a name marks clones, parts,
// and functions for reductions.
var (
	outlinedName = regexp.MustCompile(`(\._omp_fn\.[0-9]+|\.omp_outlined(\.?_debug__)?\.?(\.[0-9]+)?|\.omp_task_entry\.(\.[0-9]+)?)$`)
	debugVariant = regexp.MustCompile(`\.omp_outlined\.?_debug__(\.[0-9]+)?$`)
)

// isOutlined reports whether a name is that of an outlined function.
func isOutlined(name string) bool {
	return strings.Contains(name, "omp_") && outlinedName.MatchString(name)
}

func isDebugVariant(name string) bool {
	return strings.Contains(name, "_debug__") && debugVariant.MatchString(name)
}

// findOutlined finds all outlined functions. They are arguments of calls, or have such a name, also
// if they make no call themselves. Parts that were split off a function are joined with the
// function.
func findOutlined(o *symbols.Object, fs []*function) []*function {
	known := functions{o, map[uint64]*function{}}
	for _, f := range fs {
		known.byLo[f.lo] = f
	}
	known.given(fs)
	byName := known.named()
	all := make([]*function, 0, len(known.byLo))
	for _, f := range known.byLo {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *function) int { return int(int64(a.lo) - int64(b.lo)) })
	for _, f := range all {
		if f.outlined {
			f.extent, _ = o.Outlined(f.lo)
		}
	}
	all = joinParts(o, all, byName)
	joinDebug(o, all)
	return slices.DeleteFunc(all, func(f *function) bool { return f.inner == f })
}

// functions are those of a file that are known so far, by their lowest addresses.
type functions struct {
	o    *symbols.Object
	byLo map[uint64]*function
}

// at returns the function that begins at an address; nil if none does.
func (k functions) at(lo uint64) *function {
	f := k.byLo[lo]
	if f == nil {
		_, hi, ok := k.o.FuncRange(lo)
		if !ok {
			return nil
		}
		f = &function{lo: lo, hi: hi}
		if name, start, ok := k.o.FuncAt(lo); ok && start == lo {
			f.name = name
		}
		k.byLo[lo] = f
	}
	return f
}

// given finds the outlined functions that are arguments of calls.
func (k functions) given(fs []*function) {
	for _, f := range fs {
		for _, s := range f.sites {
			if s.fnArg == 0 {
				continue
			}
			if g := k.at(s.fnArg); g != nil {
				g.outlined = true
				if g.caller == nil {
					g.caller = s
				}
			}
		}
	}
}

// named finds the outlined functions by their names, and the parts that were split off them. Static
// functions of several units can have the same name.
func (k functions) named() (byName map[string][]*function) {
	byName = map[string][]*function{}
	var parts []string // parts that make no call, so their functions are not known yet
	partAt := map[string][]uint64{}
	k.o.Symbols(func(name string, vaddr, _ uint64) {
		switch {
		case isOutlined(name):
			if f := k.at(vaddr); f != nil && f.lo == vaddr && !slices.Contains(byName[name], f) {
				f.outlined, f.name = true, name
				byName[name] = append(byName[name], f)
			}
		case outlinedWhole(name) != "":
			if partAt[name] == nil {
				parts = append(parts, name)
			}
			partAt[name] = append(partAt[name], vaddr)
		}
	})
	for _, name := range parts {
		if len(byName[outlinedWhole(name)]) == 0 {
			continue
		}
		for _, vaddr := range partAt[name] {
			k.at(vaddr)
		}
	}
	return byName
}

// joinDebug moves the calls of clang's debug variants to the outlined functions that call these
// variants.
func joinDebug(o *symbols.Object, all []*function) {
	byLo := map[uint64]*function{}
	for _, f := range all {
		if isDebugVariant(f.name) {
			byLo[f.lo] = f
		}
	}
	if len(byLo) == 0 {
		return
	}
	for _, f := range all {
		if !f.outlined || byLo[f.lo] != nil {
			continue
		}
		if f.body == nil {
			f.body, _ = disasm.Func(o, f.lo)
		}
		for _, i := range f.body {
			if i.Control != disasm.Call && i.Control != disasm.Jump {
				continue
			}
			if g := byLo[i.Target]; g != nil && g.inner == nil {
				f.sites = append(f.sites, g.sites...)
				for _, s := range g.sites {
					s.in = f
				}
				f.inner, g.inner = g, g
				f.body = append(f.body, g.body...)
				f.parts = append(f.parts, symbols.Range{Lo: g.lo, Hi: g.hi})
				break
			}
		}
	}
}
