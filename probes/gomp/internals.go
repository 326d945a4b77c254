package gomp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/disasm/values"
)

// internals are the places inside libgomp that have no exported symbol,
// found by disassembly, and the layout of its per-thread data. Addresses are
// virtual addresses of the library's (or static program's) file.
type internals struct {
	// TeamStart is the entry of gomp_team_start(fn, data, nthreads, flags,
	// team, ...), called by each GOMP_parallel* before any worker runs.
	TeamStart uint64
	// TeamEnd is the entry of gomp_team_end, and WaitFinal that of
	// gomp_team_barrier_wait_final(&team->barrier), through which every
	// thread of a team passes at its end.
	TeamEnd   uint64
	WaitFinal uint64
	// ThreadStart is the entry of gomp_thread_start, the workers' loop.
	ThreadStart uint64
	// WorkerBegin are the points at which a worker starts a team's function,
	// exactly one hit per start, by the point's condition.
	WorkerBegin []begin
	// WorkerEnd are ThreadStart's calls of WaitFinal.
	WorkerEnd []uint64
	// TLS says where the data of the calling thread lies.
	TLS tlsLayout
	// TeamSize and Barrier are offsets in a team: of its number of threads (4 bytes), and of its
	// barrier, the argument of WaitFinal.
	TeamSize, Barrier uint32
}

// begin is one point at which workers start a team's function.
type begin struct {
	VAddr uint64
	Cost  points.Cost
	Cond  points.When // the hits that count as a start: Always, ZeroSet or ZeroClear
}

// tlsLayout locates struct gomp_thread of the calling thread and fields in it.
type tlsLayout struct {
	// Slot is the GOT slot that holds the structure's offset from the thread
	// pointer (fsbase, tpidr_el0) after relocation. In static programs Slot is 0, and Offset holds
	// the offset instead. The structure is then taken to begin at the first of the fields below.
	Slot   uint64
	Offset int64
	Team   uint32 // 8 bytes: the team, NULL outside of parallel regions
	TeamID uint32 // 4 bytes: number of the thread in its team
	Level  uint32 // 4 bytes: nesting level
}

// locate finds libgomp's internals in code. It assumes no offsets, and confirms each finding by
// a second one. An error says which finding failed; then no part of the result may be used.
func locate(code disasm.Code) (internals, error) {
	var g internals
	var err error
	if g.TeamStart, err = findTeamStart(code); err != nil {
		return internals{}, fmt.Errorf("locating gomp_team_start: %w", err)
	}
	if err = g.findEnds(code); err != nil {
		return internals{}, err
	}
	if err = g.findFields(code); err != nil {
		return internals{}, fmt.Errorf("locating libgomp's thread data: %w", err)
	}
	if err = g.findBarrier(code); err != nil {
		return internals{}, fmt.Errorf("locating the team's barrier: %w", err)
	}
	if err = g.findWorkers(code); err != nil {
		return internals{}, fmt.Errorf("locating the workers' starts: %w", err)
	}
	return g, nil
}

// findTeamStart finds the entry of gomp_team_start: the last direct call before GOMP_parallel calls
// the region's function. The call's arguments confirm it: function and data of the region are
// GOMP_parallel's own, and the team is the result of a call.
func findTeamStart(code disasm.Code) (uint64, error) {
	entry, err := disasm.OneSymbol(code, "GOMP_parallel")
	if err != nil {
		return 0, err
	}
	var target uint64
	var fits, done bool
	err = values.Evaluate(code, entry, func(i disasm.Inst, s *values.State) bool {
		switch i.Control {
		case disasm.Call:
			target = i.Target
			team := s.Arg(4)
			_, _, result := team.Without(values.AResult)
			fits = s.Arg(0).Is(values.AnArgument, 0) && s.Arg(1).Is(values.AnArgument, 1) &&
				result && len(team.Atoms) == 1 && team.Off == 0
		case disasm.CallIndirect:
			done = true
		}
		return !done
	})
	switch {
	case err != nil:
		return 0, err
	case !done || target == 0:
		return 0, errors.New("GOMP_parallel has no call of a region's function after a direct call")
	case !fits:
		return 0, fmt.Errorf("the last call in GOMP_parallel before the region's function, of %#x, has other arguments", target)
	}
	return target, nil
}

// findEnds finds gomp_team_end, gomp_team_barrier_wait_final and gomp_thread_start together. The
// first call in gomp_team_end is that of gomp_team_barrier_wait_final. gomp_team_start takes the
// address of gomp_thread_start for pthread_create. gomp_thread_start calls
// gomp_team_barrier_wait_final after the region's function.
func (g *internals) findEnds(code disasm.Code) error {
	ends, err := findTeamEnds(code)
	if err != nil {
		return fmt.Errorf("locating gomp_team_end: %w", err)
	}
	workers, err := addressesTaken(code, g.TeamStart)
	if err != nil {
		return fmt.Errorf("locating gomp_thread_start: %w", err)
	}
	found := 0
	for _, end := range ends {
		wait, ok := firstCall(code, end)
		if !ok {
			continue
		}
		for _, w := range workers {
			if body, err := disasm.Func(code, w); err == nil && callsAfterRegion(body, wait) {
				g.TeamEnd, g.WaitFinal, g.ThreadStart = end, wait, w
				found++
			}
		}
	}
	if found != 1 {
		return fmt.Errorf("locating gomp_thread_start: %d of %d functions that gomp_team_start refers to call "+
			"the first function of a gomp_team_end (%d candidates) after a region", found, len(workers), len(ends))
	}
	return nil
}

// findTeamEnds returns the functions that GOMP_parallel_end calls or jumps to, directly or through
// a part that the compiler split from it.
func findTeamEnds(code disasm.Code) ([]uint64, error) {
	entry, err := disasm.OneSymbol(code, "GOMP_parallel_end")
	if err != nil {
		return nil, err
	}
	var ends []uint64
	for level, from := 0, []uint64{entry}; level < 2; level++ {
		var next []uint64
		for _, f := range from {
			body, err := disasm.Func(code, f)
			if err != nil {
				if level == 0 {
					return nil, err
				}
				continue
			}
			lo, hi := body[0].Addr, body[len(body)-1].Next()
			for _, i := range body {
				out := i.Control == disasm.Call || i.Control == disasm.Jump || i.Control == disasm.Jcc
				if out && (i.Target < lo || i.Target >= hi) && !slices.Contains(ends, i.Target) {
					ends, next = append(ends, i.Target), append(next, i.Target)
				}
			}
		}
		from = next
	}
	return ends, nil
}

func firstCall(code disasm.Code, entry uint64) (uint64, bool) {
	body, _ := disasm.Func(code, entry) // the instructions before an undecodable byte are enough
	for _, i := range body {
		if i.Addr >= entry && i.Control == disasm.Call {
			return i.Target, true
		}
	}
	return 0, false
}

// addressesTaken returns the functions whose address the function at entry
// computes (lea; adrp and add), in any of its parts.
func addressesTaken(code disasm.Code, entry uint64) ([]uint64, error) {
	parts, err := disasm.Parts(code, entry)
	if err != nil {
		return nil, err
	}
	var taken []uint64
	for _, p := range parts {
		for _, a := range values.Addresses(p) {
			if lo, _, ok := code.FuncRange(a); ok && lo == a && !slices.Contains(taken, a) {
				taken = append(taken, a)
			}
		}
	}
	return taken, nil
}

// callsAfterRegion reports whether body has an indirect call, and each one is followed by a call of
// wait before any other call.
func callsAfterRegion(body []disasm.Inst, wait uint64) bool {
	pending, seen := false, false
	for _, i := range body {
		switch {
		case i.CallsPointer():
			if pending {
				return false
			}
			pending = true
		case i.Control == disasm.Call && pending:
			if i.Target != wait {
				return false
			}
			pending, seen = false, true
		}
	}
	return seen && !pending
}

// findWorkers places the workers' probes in gomp_thread_start.
func (g *internals) findWorkers(code disasm.Code) error {
	parts, err := disasm.Parts(code, g.ThreadStart)
	if err != nil {
		return err
	}
	for _, i := range slices.Concat(parts...) {
		switch {
		case i.Control == disasm.Call && i.Target == g.WaitFinal:
			g.WorkerEnd = append(g.WorkerEnd, i.Addr)
		case i.CallsPointer():
			for _, a := range points.Approaches(parts, i.Addr) {
				g.WorkerBegin = append(g.WorkerBegin, begin{a.Inst.Addr, points.CostOf(a.Inst), a.When})
			}
		}
	}
	// One point for two calls would need the conditions of both.
	slices.SortFunc(g.WorkerBegin, func(a, b begin) int { return cmp.Compare(a.VAddr, b.VAddr) })
	for k := range g.WorkerBegin {
		if k > 0 && g.WorkerBegin[k].VAddr == g.WorkerBegin[k-1].VAddr {
			return fmt.Errorf("the jump at %#x leads to two starts", g.WorkerBegin[k].VAddr)
		}
	}
	return nil
}

// findFields reads the layout of the thread's data from three accessors that only load a field.
func (g *internals) findFields(code disasm.Code) error {
	var slots [3]uint64
	var fields [3]int64
	for k, name := range []string{"omp_get_num_threads", "omp_get_thread_num", "omp_get_level"} {
		entry, err := disasm.OneSymbol(code, name)
		if err != nil {
			return err
		}
		returned, err := values.Returns(code, entry)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found := false
		for _, v := range returned {
			field, ok := v.Loaded(4)
			if ok && k == 0 { // the team's size, in the structure that Team points to
				rest, team, isLoad := field.Without(values.ALoad)
				size, isConst := rest.Const()
				if ok = isLoad && isConst && team.N == 8 && size < maxField; ok {
					g.TeamSize, field = uint32(size), *team.Addr
				}
			}
			if ok {
				slots[k], fields[k], ok = threadField(field)
			}
			found = found || ok
		}
		if !found {
			return fmt.Errorf("%s returns no field of the thread's data", name)
		}
		if slots[k] != slots[0] {
			return fmt.Errorf("%s uses another TLS slot (%#x) than omp_get_num_threads (%#x)", name, slots[k], slots[0])
		}
	}
	g.TLS.Slot = slots[0]
	if g.TLS.Slot == 0 {
		g.TLS.Offset = slices.Min(fields[:])
	}
	for k, to := range []*uint32{&g.TLS.Team, &g.TLS.TeamID, &g.TLS.Level} {
		f := fields[k] - g.TLS.Offset
		if f < 0 || f >= maxField {
			return fmt.Errorf("field offset %d is out of range", f)
		}
		*to = uint32(f)
	}
	return nil
}

// maxField is the largest plausible offset in libgomp's structures; struct gomp_team has some 1.5
// KiB.
const maxField = 1 << 14

// threadField takes apart the address of a field of the thread's data. It is the thread pointer
// plus an offset, or the thread pointer plus a GOT slot's content plus an offset.
func threadField(v values.Value) (slot uint64, off int64, ok bool) {
	if v, _, ok = v.Without(values.AThreadPointer); !ok {
		return 0, 0, false
	}
	if rest, got, ok := v.Without(values.ALoad); ok {
		slot, ok = got.Addr.Const()
		off, isConst := rest.Const()
		return slot, int64(off), ok && isConst && got.N == 8 && slot != 0
	}
	c, ok := v.Const()
	return 0, int64(c), ok
}

// findBarrier reads the barrier's offset from gomp_team_end's call of
// gomp_team_barrier_wait_final(&thread->team->barrier). That also confirms the function and the
// offset of team.
func (g *internals) findBarrier(code disasm.Code) error {
	var found bool
	err := values.Evaluate(code, g.TeamEnd, func(i disasm.Inst, s *values.State) bool {
		if i.Control != disasm.Call {
			return true
		}
		rest, team, ok := s.Arg(0).Without(values.ALoad)
		off, isConst := rest.Const()
		if ok && isConst && i.Target == g.WaitFinal && off < maxField {
			slot, field, ok := threadField(*team.Addr)
			// On arm64 another slot can hold the same offset.
			found = found || ok && (slot == 0) == (g.TLS.Slot == 0) && field == g.TLS.Offset+int64(g.TLS.Team)
			g.Barrier = uint32(off)
		}
		return false
	})
	if err == nil && !found {
		err = fmt.Errorf("gomp_team_end at %#x does not wait at the team of the calling thread", g.TeamEnd)
	}
	return err
}
