package places

import (
	"path/filepath"
	"strings"

	"ompp-attach/attribution"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/probes/openmp"
	"ompp-attach/probes/sites"
	"ompp-attach/profile"
	"ompp-attach/regions"
	"ompp-attach/symbols"
)

// Region implements attribution.Resolver. It finds a construct's place in the source from the
// file's table of regions. Where the table does not know the call, it uses libomp's ident_t and the
// line table.
func (r *Resolver) Region(k attribution.Key) profile.Region {
	if k.Construct == event.UserRegion {
		return r.userRegion(k)
	}
	if k.Construct == event.MPI {
		return r.mpiRegion(k)
	}
	reg := profile.Region{Construct: k.Construct, Runtime: k.Runtime.String()}
	if k.Construct == event.Critical {
		if p, ok := r.at(k.Fn); ok {
			reg.Name = regions.CriticalName(r.named(p.object), p.vaddr)
		}
	}
	switch {
	case k.Fn != 0 && (k.Construct.IsParallel() || isTask(k.Construct)):
		if p, ok := r.at(k.Fn); ok {
			r.outlined(k, p, &reg)
		} else {
			reg.Location.Offset = k.Fn
		}
	case k.Site == 0 && isLock(k.Construct): // Fn is the lock, if anything
		reg.Notes = append(reg.Notes, noteNoSite)
	case k.Site == 0 && k.Fn != 0:
		r.tail(k, &reg)
	case r.inlineRegion(k, &reg):
	default:
		r.call(k, &reg)
	}
	if reg.Location.Function != "" {
		reg.Location.Entry = 0
	}
	return reg
}

// Around implements attribution.Resolver.
func (r *Resolver) Around(addr uint64) (profile.Region, bool) {
	p, ok := r.bound[addr]
	if !ok || p.module == nil || !target.UsesGomp(p.object) && !p.object.Imports("__kmpc_fork_call") {
		return profile.Region{}, false
	}
	lo, _, ok := p.object.FuncRange(p.vaddr)
	if !ok {
		return profile.Region{}, false
	}
	t, ok := r.table(p).Function(lo)
	if !ok || !t.Construct.IsParallel() && (t.Construct != event.NoConstruct || !strings.Contains(t.Words, "parallel")) {
		return profile.Region{}, false
	}
	k := attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.Parallel, Runtime: t.Runtime}}
	reg := profile.Region{Construct: k.Construct, Runtime: k.Runtime.String()}
	// Without its address, to which another file may have been bound.
	r.outlined(k, place{p.module, p.object, lo}, &reg)
	return reg, true
}

// mpiRegion places a call of an MPI operation at its line.
func (r *Resolver) mpiRegion(k attribution.Key) profile.Region {
	reg := profile.Region{Construct: event.MPI, Name: mpi.Op(k.Fn).String()}
	r.atCall(&reg.Location, k.Site)
	return reg
}

// atCall stores the line of the call that returns to site.
func (r *Resolver) atCall(loc *profile.Location, site uint64) {
	p, ok := r.at(site)
	if !ok {
		loc.Offset = site
		return
	}
	loc.Object, loc.Offset = p.module.Path, p.vaddr
	r.inFunction(loc, p, max(p.vaddr, 1)-1) // an address in the call
	loc.File, loc.Begin, _ = r.named(p.object).CallLine(p.vaddr)
}

// inFunction stores the function of an address in loc: its name, or its first address if it has no
// name.
func (r *Resolver) inFunction(loc *profile.Location, p place, vaddr uint64) {
	if loc.Function = r.function(p, vaddr); loc.Function == "" {
		loc.Entry, _, _ = p.object.FuncRange(vaddr)
	}
}

// function names the source function of an address. Where symbols are stripped, the body of a
// region has no name. Then function names the function that starts the region, which may be
// exported.
func (r *Resolver) function(p place, vaddr uint64) string {
	if name := r.named(p.object).SourceFunction(vaddr); name != "" {
		return name
	}
	lo, _, ok := p.object.FuncRange(vaddr)
	if !ok {
		return ""
	}
	t, _ := r.table(p).Function(lo)
	return t.Function
}

// isTask tells whether a construct executes an outlined function of its own as a task.
func isTask(c event.Construct) bool {
	switch c {
	case event.Task, event.UntiedTask, event.TaskExec, event.UntiedTaskExec, event.TaskLoop:
		return true
	}
	return false
}

// isLock tells whether executions of a construct are added up in the kernel, which takes the place
// of a call when the call returns.
func isLock(c event.Construct) bool {
	return c == event.Critical || c == event.Lock || c == event.NestLock
}

const noteNoSite = "probes were taken away while threads were in this call: its place was not seen"

// outlined places a region by its outlined function. Each region has one of its own, however the
// compiler optimised.
func (r *Resolver) outlined(k attribution.Key, p place, reg *profile.Region) {
	loc := &reg.Location
	loc.Object, loc.Offset = p.module.Path, p.vaddr
	loc.Function = r.function(p, p.vaddr)
	if !p.object.IsExecutable() && openmp.Identify(p.object) != event.NoRuntime {
		reg.Notes = append(reg.Notes, noteRuntimesOwn)
	}
	t, ok := r.table(p).Function(p.vaddr)
	if ok {
		r.fromTable(&t, k, reg)
	}
	if loc.Begin == 0 {
		r.byIdent(k, p, loc)
	}
	if t.Found&regions.BySource == 0 {
		r.inlineParallel(p, reg)
	}
	if r.isOneLoop(k, p) {
		reg.Construct = event.ParallelLoop
	}
}

// call places a construct by the call that starts it.
func (r *Resolver) call(k attribution.Key, reg *profile.Region) {
	loc := &reg.Location
	p, ok := r.at(k.Site)
	if !ok {
		loc.Offset = k.Site
		return
	}
	loc.Object, loc.Offset = p.module.Path, p.vaddr
	r.inFunction(loc, p, max(p.vaddr, 1)-1) // an address in the call
	if t, ok := r.table(p).At(p.vaddr); ok {
		r.fromTable(&t, k, reg)
	}
	if loc.Begin == 0 && !r.byIdent(k, p, loc) {
		loc.File, loc.Begin, _ = r.named(p.object).CallLine(p.vaddr)
	}
	if r.isOneLoop(k, place{}) {
		reg.Construct = event.ParallelLoop
	}
}

// isOneLoop tells whether a region of libomp is one directive with the static loop in it: then the
// loop itself may have no probes. p is the region's outlined function, if it is known.
func (r *Resolver) isOneLoop(k attribution.Key, p place) bool {
	if k.Construct != event.Parallel || k.Runtime != event.Kmpc {
		return false
	}
	if p.object != nil {
		return sites.Of(p.object).Whole(p.vaddr)
	}
	id, ok := r.ident(k.Loc)
	return ok && sites.Of(r.bound[k.Loc].object).WholeAt(id)
}

const noteTail = "the compiler made this construct's call the last jump of its function: the place is the end of that function"

// tail places a construct whose call is the last jump of an outlined function.
func (r *Resolver) tail(k attribution.Key, reg *profile.Region) {
	loc := &reg.Location
	p, ok := r.at(k.Fn)
	if !ok {
		loc.Offset = k.Fn
		return
	}
	loc.Object, loc.Offset = p.module.Path, p.vaddr
	loc.Function = r.function(p, p.vaddr)
	if t, s, ok := r.table(p).Tail(p.object, p.vaddr, k.Construct); ok {
		loc.Offset = s.Addr
		loc.Function = r.function(p, s.Addr)
		r.fromTable(&t, k, reg)
		return
	}
	loc.Mark = profile.Approx
	reg.Notes = append(reg.Notes, noteTail)
	if x, ok := r.named(p.object).Outlined(p.vaddr); ok {
		loc.File, loc.Begin, loc.Function = x.File, x.End, x.Function
	}
}

const noteNearLine = "GCC gives this construct's call the line of the code before it: the place is near, not exact"

// Notes on barriers that the report shows by themselves, though they are not in the source. Usually
// such a barrier is part of its construct. noteCopies: compilers put a barrier before a construct
// that copies variables, so that no thread changes a variable before it is copied.
const (
	noteCopies = "threads wait here before private variables are copied (copyin, firstprivate with lastprivate)"
	noteNoCall = profile.NoteImplicit + ". It may end a static loop, for which GCC's code makes no other call. " +
		"Then the time of the loop itself is not known, only this wait"
	noteMissed   = profile.NoteImplicit + ". Either the construct began before measurement, or " + noteCopies
	notePassedBy = profile.NoteImplicit + ". It may end a static loop without iterations: GCC's code may jump past " +
		"the loop's probes. Or the construct began before measurement, or " + noteCopies
	noteClangsOwn = profile.NoteImplicit + ". It may end a loop without iterations, for which clang's code makes no other call. " +
		"Or the construct began before measurement, or " + noteCopies
	noteLeftOut = profile.NoteImplicit + ". It may end a construct that is left out (--disable, --only). " +
		"Or the construct began before measurement, or " + noteCopies
)

// implicit returns the note on which construct an implicit barrier may belong to. t is the region
// of the construct, as far as it is known.
func (r *Resolver) implicit(t *regions.Region, runtime event.Runtime) string {
	switch {
	case r.LeavesWorksharing:
		return noteLeftOut
	case runtime != event.Gomp:
		return noteClangsOwn
	case t.CallsBegin():
		return noteMissed
	case len(t.Enter) > 0 && r.Inlining:
		return notePassedBy
	}
	return noteNoCall
}

// fromTable copies what the table knows of a region. Some combined constructs compile to the same
// code, and only the source tells them apart.
func (r *Resolver) fromTable(t *regions.Region, k attribution.Key, reg *profile.Region) {
	switch {
	case t.Construct == event.Parallel && (k.Construct == event.ParallelLoop || k.Construct == event.ParallelSections):
		reg.Notes = append(reg.Notes, noteJoined)
	case k.Construct.IsParallel() && t.Construct.IsParallel():
		reg.Construct = t.Construct
	case t.Untied && k.Construct == event.Task:
		reg.Construct = event.UntiedTask
	case t.Untied && k.Construct == event.TaskExec:
		reg.Construct = event.UntiedTaskExec
	case t.Construct == event.NoConstruct:
		reg.Construct = parallelKind(t.Words, k.Construct)
	case k.Construct == event.Atomic && t.Construct != event.Atomic:
		// GOMP_atomic_start where no atomic directive stands.
		reg.Construct = event.Reduction
		reg.Notes = append(reg.Notes, noteReduction)
	}
	if t.Construct == event.Critical && reg.Name == "" {
		reg.Name = t.Name
	}
	switch {
	case k.Construct == event.Barrier && (t.Construct != event.Barrier || t.Implicit):
		reg.Notes = append(reg.Notes, r.implicit(t, k.Runtime))
	case t.BeginNear:
		reg.Notes = append(reg.Notes, noteNearLine)
	}
	loc := &reg.Location
	loc.File, loc.Begin, loc.End = t.File, t.Begin, t.End
	if t.Function != "" {
		loc.Function = t.Function
	}
	if t.BeginNear {
		loc.Mark = profile.Approx
	}
	if t.EndNear {
		loc.EndMark = profile.Approx
	}
}

// tables keeps the tables of regions, since several processes may map a file.
var tables symbols.Memo[*regions.Table]

// table returns the regions of the file that a place is in.
func (r *Resolver) table(p place) *regions.Table { return tableOf(r.named(p.object)) }

// tableOf returns the regions of a file; an empty table if there are none.
func tableOf(o *symbols.Object) *regions.Table {
	return tables.Of(o, func(o *symbols.Object) *regions.Table {
		t, err := regions.BuildCached(o, "")
		if err != nil { // it calls no runtime
			return &regions.Table{}
		}
		return t
	})
}

// byIdent places a construct by libomp's ident_t, which names the file as the compiler's command
// line did. It is for constructs that the table does not know, such as calls with a computed
// argument.
func (r *Resolver) byIdent(k attribution.Key, p place, loc *profile.Location) bool {
	id, ok := r.ident(k.Loc)
	if !ok || id.Line == 0 {
		return false
	}
	loc.File, loc.Begin = id.File, id.Line
	if f, _, ok := r.named(p.object).CallLine(p.vaddr + 1); ok && filepath.Base(f) == filepath.Base(id.File) {
		loc.File = f
	}
	if loc.Function == "" {
		loc.Function = id.Function
	}
	return true
}

const noteRuntimesOwn = "a region of the runtime itself, not of the program: libomp's hidden helper threads, which it starts for target nowait"

const noteJoined = "the compiler has joined the parallel region and the construct that is its body to one call"

const noteReduction = "GCC combines the results of several reductions under the lock of its atomics"

// parallelKind returns the combined construct that the words of a directive name behind "parallel".
// The directive may have more before it (teams distribute parallel for).
func parallelKind(words string, seen event.Construct) event.Construct {
	_, rest, _ := strings.Cut(words, "parallel")
	f := strings.Fields(rest)
	if len(f) == 0 || seen != event.Parallel {
		return seen
	}
	switch f[0] {
	case "for", "do", "loop":
		return event.ParallelLoop
	case "sections":
		return event.ParallelSections
	case "workshare":
		return event.ParallelWorkshare
	}
	return seen
}
