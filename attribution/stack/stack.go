package stack

import (
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// Stack holds the open regions of a thread, the innermost last. It knows nothing else of the
// thread. Its methods take a pointer: a copy of the slice took about 1 % of the engine's time.
type Stack []OpenRegion

// Key identifies the construct that a call starts. If the call returns into the runtime itself, the
// compiler made it the last jump of an outlined function. Then the function identifies the place.
func (s *Stack) Key(c event.Construct, ev *event.Event) place.Key {
	k := place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: c, Runtime: ev.Runtime}, Site: ev.Site, Loc: ev.Loc}
	if ev.Flags&event.Inside != 0 {
		if i := s.Context(); i >= 0 && (*s)[i].Node.Key.Fn != 0 {
			k.Fn, k.Site = (*s)[i].Node.Key.Fn, 0
			return k
		}
	}
	if c == event.Critical {
		k.Fn = ev.Fn // the lock of a named critical identifies the name
	}
	return k
}

// Top returns the innermost open region, nil if there is none.
func (s *Stack) Top() *OpenRegion {
	if len(*s) == 0 {
		return nil
	}
	return &(*s)[len(*s)-1]
}

// TargetAgain tells whether an entry point of libomptarget was called by another one. The two calls
// are one target region.
func (s *Stack) TargetAgain(ev *event.Event) bool {
	open := s.Top()
	if open == nil || open.Node.Key.Construct != event.Target || ev.Flags&event.Inside == 0 {
		return false
	}
	open.nested++
	return true
}

// Level returns the index of the innermost parallel region, -1 outside any.
func (s *Stack) Level() int {
	for i := len(*s) - 1; i >= 0; i-- {
		if (*s)[i].Node.Key.Construct.IsParallel() {
			return i
		}
	}
	return -1
}

// Find returns the index of the innermost open region of a construct within the thread's current
// task, implicit or explicit. It returns -1 if there is none.
func (s *Stack) Find(c event.Construct, match func(*OpenRegion) bool) int {
	for i := len(*s) - 1; i >= 0; i-- {
		open := &(*s)[i]
		if IsContext(open.Node.Key.Construct) {
			return -1
		}
		if open.Node.Key.Construct == c && (match == nil || match(open)) {
			return i
		}
	}
	return -1
}

// TeamSize returns the number of threads in the thread's current team, 0 if not known.
func (s *Stack) TeamSize() int32 {
	if i := s.Level(); i >= 0 && (*s)[i].Team != nil {
		return (*s)[i].Team.Size
	}
	return 0
}

// Idle tells whether the thread is a worker that has reached the final barrier of its region. It
// may still execute tasks there.
func (s *Stack) Idle() bool {
	return len(*s) == 1 && (*s)[0].Team != nil && (*s)[0].Num < 0 && (*s)[0].Phase == InBarrier
}

// Forked returns the index of the innermost region that this thread started, -1 if there is none.
func (s *Stack) Forked() int {
	for i := len(*s) - 1; i >= 0; i-- {
		if (*s)[i].Team != nil && (*s)[i].Num >= 0 {
			return i
		}
	}
	return -1
}

// EnteredFromOther returns the outer execution's node if a user region is entered again from
// another one that was entered from it, otherwise nil. Paths of regions that call each other would
// grow with every call. So the inner execution uses the node of the outer one, whose time holds the
// inner time, and the regions between are suspended meanwhile. A function that calls only itself
// has a node for every level.
func (s *Stack) EnteredFromOther(k place.Key) *tree.Node {
	others := false
	for i := len(*s) - 1; i >= 0; i-- {
		open := &(*s)[i]
		switch {
		case IsContext(open.Node.Key.Construct):
			return nil
		case open.Node.Key.Construct != event.UserRegion:
		case open.Node.Key != k:
			others = true
		case others || open.Inner:
			return open.Node
		default:
			return nil
		}
	}
	return nil
}

// outer returns the index of the outer execution of the i-th region, whose time contains
// the inner one's; -1 if there is none.
func (s *Stack) outer(i int) int {
	if !(*s)[i].Inner {
		return -1
	}
	n := (*s)[i].Node
	for i--; i >= 0 && (*s)[i].Node != n; i-- {
	}
	return i
}

// UserOnly reports whether only user regions are open above the outermost region.
func (s *Stack) UserOnly() bool {
	return !slices.ContainsFunc((*s)[1:], func(open OpenRegion) bool { return open.Node.Key.Construct != event.UserRegion })
}

// OpenShare returns the index of the loop, sections, scope or distribute region that an event ends,
// -1 if there is none. The event may name another one of these four constructs. libomp ends all but
// scope by one call, and the linker may make one of identical functions of libgomp.
func (s *Stack) OpenShare() int {
	for i := len(*s) - 1; i >= 0; i-- {
		switch c := (*s)[i].Node.Key.Construct; {
		case IsContext(c):
			return -1
		case c == event.Loop, c == event.Sections, c == event.Scope, c == event.Distribute:
			return i
		}
	}
	return -1
}

// Function returns the outlined function of the parallel region that a thread is in, 0 if it is in
// none.
func (s *Stack) Function() uint64 {
	if i := s.Level(); i >= 0 {
		return (*s)[i].Node.Key.Fn
	}
	return 0
}

// suspendedAt returns how far the clock of the i-th region lags behind (ns): the suspended time of
// the task that contains the region.
func (s *Stack) suspendedAt(i int) uint64 {
	for i--; i >= 0; i-- {
		switch open := &(*s)[i]; {
		case tree.IsExecution(open.Node.Key.Construct):
			return uint64(open.Suspended)
		case IsContext(open.Node.Key.Construct):
			return 0
		}
	}
	return 0
}

// SuspendedBy returns the lowest index of the regions that stand still while a thread executes the
// task at i. If the thread has suspended a task, that task and all regions in it stand still.
// Otherwise only the tasking construct does in which the thread executes the task (see resume).
func (s *Stack) SuspendedBy(i int) int {
	next := -1
	for j := i - 1; j >= 0; j-- {
		open := &(*s)[j]
		if open.Internal {
			continue
		}
		if next < 0 {
			next = j
		}
		switch c := open.Node.Key.Construct; {
		case tree.IsExecution(c):
			return j
		case c.IsParallel():
			j = 0
		}
	}
	if next >= 0 && (*s)[next].Node.Key.Construct.IsTasking() {
		return next
	}
	return i
}

// Executing returns the open region of the explicit task that the thread executes, nil if it
// executes its implicit task.
func (s *Stack) Executing() *OpenRegion {
	if i := s.Context(); i >= 0 && tree.IsExecution((*s)[i].Node.Key.Construct) {
		return &(*s)[i]
	}
	return nil
}

// Context returns the index of the innermost open region that is an implicit or
// explicit task; -1 outside any.
func (s *Stack) Context() int {
	for i := len(*s) - 1; i >= 0; i-- {
		if IsContext((*s)[i].Node.Key.Construct) {
			return i
		}
	}
	return -1
}

// Account returns the account of the innermost region, nil if none is open.
func (s *Stack) Account() *ledger.Account {
	if open := s.Top(); open != nil {
		return &open.Account
	}
	return nil
}

// Tear notes that events of a thread in its teams are missing: the numbers of its barriers are not
// known any more.
func (s *Stack) Tear() {
	for i := range *s {
		if m := (*s)[i].Team; m != nil {
			m.Torn = true
		}
	}
}
