package user

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// levelPlan finds the probes of a library's levels. It is kept, because files that are loaded later
// may import further functions.
type levelPlan struct {
	u    *Regions
	o    *symbols.Object
	path string
	kind int // of levels
	// outside: the library is one level, so the kernel side leaves out the calls that it makes
	// itself. Otherwise the engine does, which knows the level that a call comes from.
	outside  bool
	chosen   map[uint64]*levelEntry // by address
	followed map[uint64]bool        // functions whose exits are found, by address
	at       map[exitAt]bool

	left []candidate              // functions that no file has imported so far
	seen map[*symbols.Object]bool // files whose imports were looked at
}

func newLevelPlan(u *Regions, o *symbols.Object, path string, kind int, outside bool) *levelPlan {
	return &levelPlan{u: u, o: o, path: path, kind: kind, outside: outside, chosen: map[uint64]*levelEntry{},
		followed: map[uint64]bool{}, at: map[exitAt]bool{}, seen: map[*symbols.Object]bool{}}
}

// candidate is an exported function that a level takes.
type candidate struct {
	f        symbols.Function
	level    int
	imported bool
}

// levelEntry is a function that was chosen.
type levelEntry struct {
	f     symbols.Function
	level int
	fn    uint64 // Fn of its events
	// continued: another function of the library may end in a jump to it.
	continued bool
	ways      []points.Way
	point     probes.CodePoint
}

// exitAt is a probe at an exit: the same instruction may have two, under different conditions.
type exitAt struct {
	vaddr uint64
	when  points.When
}

// choose selects the functions of the levels. With an expression, they are the exported functions
// that match. Without one, they are the functions that other files import. If no file imports any,
// a program may look them up by name: then they are all exported functions.
func (b *levelPlan) choose(wanted []int) (fresh []uint64) {
	var all []candidate
	importedOf := map[int]bool{}
	news := b.newImporters()
	for _, f := range b.o.Functions() {
		names := b.exported(&f)
		if len(names) == 0 {
			continue
		}
		for _, n := range wanted {
			l := b.u.levels[n]
			if l.takes(f.Names) {
				l.matched = true
				imported := b.u.importers == nil || slices.ContainsFunc(names, importedBy(news))
				importedOf[n] = importedOf[n] || imported
				all = append(all, candidate{f, n, imported})
				break
			}
		}
	}
	b.left = nil
	all = slices.DeleteFunc(all, func(c candidate) bool {
		leave := b.u.levels[c.level].regex == nil && importedOf[c.level] && !c.imported
		if leave {
			b.left = append(b.left, c)
		}
		return leave
	})
	slices.SortStableFunc(all, func(x, y candidate) int {
		return cmp.Compare(rank(x.imported), rank(y.imported))
	})
	return b.take(all)
}

// chooseLater selects the functions that files import which were loaded since the last selection.
func (b *levelPlan) chooseLater() (fresh []uint64) {
	if len(b.left) == 0 {
		return nil
	}
	news := b.newImporters()
	if len(news) == 0 {
		return nil
	}
	var all []candidate
	b.left = slices.DeleteFunc(b.left, func(c candidate) bool {
		imported := slices.ContainsFunc(b.exported(&c.f), importedBy(news))
		if imported {
			c.imported = true
			all = append(all, c)
		}
		return imported
	})
	return b.take(all)
}

// newImporters returns the files whose imports were not looked at so far.
func (b *levelPlan) newImporters() (news []*symbols.Object) {
	for _, o := range b.u.importers {
		if !b.seen[o] {
			b.seen[o] = true
			news = append(news, o)
		}
	}
	return news
}

// importedBy tells whether one of some files imports a function.
func importedBy(files []*symbols.Object) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(files, func(o *symbols.Object) bool { return o.Imports(name) })
	}
}

// exported returns the names by which a function is exported.
func (b *levelPlan) exported(f *symbols.Function) (names []string) {
	for _, name := range f.Names {
		if !strings.ContainsAny(name, "( ") && b.o.Exports(name) {
			names = append(names, name)
		}
	}
	return names
}

// take adds functions to the chosen ones, as far as there is room, and returns their addresses in
// order.
func (b *levelPlan) take(all []candidate) (fresh []uint64) {
	room := max(0, b.u.most-b.u.found)
	if len(all) > room {
		b.u.unseen = append(b.u.unseen, profile.Unseen{What: fmt.Sprintf("%d functions of levels in %s", len(all)-room, b.path),
			Reason: fmt.Sprintf("at most %d functions can be probed at once; give an expression (--level NAME=LIBRARY:REGEX) to choose", b.u.most)})
		all = all[:room]
	}
	b.u.found += len(all)
	for _, c := range all {
		b.chosen[c.f.VAddr] = &levelEntry{f: c.f, level: c.level}
		fresh = append(fresh, c.f.VAddr)
	}
	slices.Sort(fresh)
	return fresh
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// isPart reports whether a range of code belongs to a function that jumps to it.
func (b *levelPlan) isPart(target uint64) bool {
	symbol, start, ok := b.o.FuncAt(target)
	return ok && start == target && strings.Contains(symbol, ".cold")
}

// probes places the probes of functions that were just chosen. continued are functions that were
// chosen earlier, by the Fn of their events: one of the new ones may end in a jump to them.
func (b *levelPlan) probes(fresh []uint64) (found []probes.CodePoint, continued []uint64) {
	before := map[uint64]bool{}
	for at, e := range b.chosen {
		before[at] = e.continued
	}
	fresh = b.entries(fresh)
	found = b.exits(fresh)
	isFresh := map[uint64]bool{}
	for _, at := range fresh {
		e := b.chosen[at]
		isFresh[at] = true
		p := e.point
		p.Fn, p.Value, p.Outside = e.fn, int64(event.UserLevel+e.level), b.outside
		if e.continued {
			p.Value |= event.UserContinues
		}
		found = append(found, p)
	}
	for at, e := range b.chosen {
		if e.continued && !before[at] && !isFresh[at] {
			continued = append(continued, e.fn)
		}
	}
	slices.Sort(continued)
	return found, continued
}

// entries finds where executions of new functions begin. It leaves out functions whose beginning or
// ends cannot be found, and returns the others.
func (b *levelPlan) entries(fresh []uint64) (found []uint64) {
	for _, at := range fresh {
		e := b.chosen[at]
		name := e.f.Names[0]
		err := b.entry(e)
		if err != nil {
			b.u.unseen = append(b.u.unseen, profile.Unseen{What: "function " + name, Reason: err.Error()})
			delete(b.chosen, at)
			continue
		}
		// A function that was chosen earlier may jump here.
		e.continued = b.followed[at]
		e.fn = event.LevelFn(b.kind, len(b.u.functions))
		b.u.functions = append(b.u.functions, LevelFunction{Name: name, Level: b.u.levels[e.level].name, Without: b.u.levels[e.level].without(name)})
		found = append(found, at)
	}
	return found
}

func (b *levelPlan) entry(e *levelEntry) error {
	ways, unseen, err := points.Ways(b.o, e.f.VAddr, b.isPart)
	if err != nil {
		return fmt.Errorf("its ends cannot be found: %w", err)
	}
	if unseen > 0 {
		// The stack pointer would tell of the end only at the thread's next event.
		return fmt.Errorf("it has an end that no probe can tell, a jump under a condition")
	}
	need := points.Need{Dear: true}
	for _, w := range ways {
		if !b.goesOn(w) {
			need.Avoid = append(need.Avoid, w.Inst.Addr)
		}
	}
	begin, err := points.SafePoint(b.o, e.f.VAddr, need)
	if err != nil {
		return err
	}
	e.ways = ways
	e.point = probes.CodePoint{Name: e.f.Names[0], VAddr: begin.VAddr, Construct: event.UserRegion, Edge: event.Enter}
	return nil
}

// destination returns the function of the library to which a way leads by a jump; 0: none.
func (b *levelPlan) destination(w points.Way) uint64 {
	symbol, ok := "", false
	switch {
	case w.Target != 0:
		if symbol, ok = b.o.PLT(w.Target); !ok {
			if _, start, known := b.o.FuncAt(w.Target); known && start == w.Target {
				return w.Target
			}
			return 0
		}
	case w.Inst.Control == disasm.JumpIndirect && w.Inst.Ref != 0:
		if symbol, ok = b.o.GOT(w.Inst.Ref); !ok {
			return 0
		}
	default:
		return 0
	}
	if own := b.o.Symbol(symbol); len(own) > 0 {
		return own[0]
	}
	return 0
}

// goesOn reports whether a way leads to a function whose own exits end the execution.
func (b *levelPlan) goesOn(w points.Way) bool {
	to := b.destination(w)
	return to != 0 && (b.chosen[to] != nil || b.ended(to))
}

// ended reports whether the exits of a function that is not chosen can be found.
func (b *levelPlan) ended(at uint64) bool {
	_, unseen, err := points.Ways(b.o, at, b.isPart)
	return err == nil && unseen == 0
}

// exits places the probes where executions of new functions end. Functions to which others jump are
// followed.
func (b *levelPlan) exits(fresh []uint64) (found []probes.CodePoint) {
	for _, at := range fresh {
		e := b.chosen[at]
		found = b.follow(found, e, at, e.ways)
	}
	return found
}

const noteJumpsAway = "this function may end by a jump to a function that is not known here: the time there is not its own"

// follow adds the probes of the exits by which a function is left.
func (b *levelPlan) follow(found []probes.CodePoint, e *levelEntry, at uint64, ways []points.Way) []probes.CodePoint {
	if b.followed[at] {
		return found
	}
	b.followed[at] = true
	for _, w := range ways {
		to := b.destination(w)
		if to != 0 && b.chosen[to] != nil {
			b.chosen[to].continued = true
			continue
		}
		if to != 0 {
			if inner, unseen, err := points.Ways(b.o, to, b.isPart); err == nil && unseen == 0 {
				found = b.follow(found, e, to, inner)
				continue
			}
		}
		if w.Target != 0 || w.Inst.Control == disasm.JumpIndirect {
			index, _ := event.LevelFunction(e.fn)
			f := &b.u.functions[index]
			if !slices.Contains(f.Notes, noteJumpsAway) {
				f.Notes = append(f.Notes, noteJumpsAway)
			}
		}
		x := exitAt{w.Inst.Addr, w.When}
		if b.at[x] {
			continue
		}
		b.at[x] = true
		found = append(found, probes.CodePoint{Name: e.f.Names[0], VAddr: w.Inst.Addr, When: w.When, Construct: event.UserRegion, Edge: event.Release,
			Fn: e.fn, Lift: w.Lift, Value: int64(event.UserLevel + e.level), Outside: b.outside})
	}
	return found
}
