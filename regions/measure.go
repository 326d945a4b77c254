package regions

import (
	"strings"

	"ompp-attach/event"
)

// CallsBegin reports whether a call tells when the construct begins: the call that starts it, or
// the call of its outlined function.
func (r *Region) CallsBegin() bool {
	for _, s := range r.Sites {
		c, _ := callOf(s.Call)
		if s.Start && c.role == opens && (c.construct != event.Atomic || r.Construct == event.Atomic) {
			return true
		}
	}
	return r.Outlined != 0
}

// measureOf says how a measurement gets a region's figures. If not every begin and end is seen, it
// also says why.
func measureOf(r *Region) (Measure, string) {
	const noCode = "no code of it was found: the compiler removed or merged it, or did not compile it"
	switch r.Construct {
	case event.NoConstruct:
		switch {
		case strings.HasSuffix(r.Words, "simd") && !strings.Contains(r.Words, "taskloop"):
			return Invisible, "it runs within one thread and makes no call"
		case len(r.Sites) > 0 || r.Outlined != 0:
			return Exact, ""
		case strings.HasPrefix(r.Words, "target"):
			return Invisible, "no call was found: where no code for a device was compiled, target makes none"
		}
		return Invisible, "no call was found: the compiler makes plain instructions of it, or removed it"
	case event.Task, event.TaskWait, event.TaskGroup:
		if len(r.Sites) > 0 || r.Outlined != 0 {
			return Exact, ""
		}
	case event.Barrier:
		if r.Implicit && r.Runtime == event.Kmpc {
			return Derived, "an implicit barrier: shown by itself where no construct was seen to begin before it"
		}
		if r.Implicit {
			return Derived, "an implicit barrier, as of a static loop, which makes no other call: only the wait is seen"
		}
		if r.Found == BySource {
			return Invisible, noCode
		}
		if r.Begin == 0 && r.Runtime == event.Gomp {
			return Exact, "without line information the implicit barriers of static loops cannot be told from barrier directives"
		}
		return Exact, ""
	case event.Sections, event.ParallelSections:
		if r.Runtime == event.Kmpc {
			return Derived, "libomp's code makes no call per section: the number of sections executed is derived"
		}
	case event.Workshare, event.ParallelWorkshare:
		if r.Construct == event.Workshare {
			return Derived, "its parts are loops and single blocks to the compiler: only their barriers are seen"
		}
	}
	if r.CallsBegin() {
		return Exact, ""
	}
	if len(r.Sites) > 0 && r.Construct == event.Loop {
		return Derived, "a static loop makes no call, and no instruction was found that each thread executes, including a thread without iterations: only the wait in its barrier is seen"
	}
	if r.Found == BySource {
		return Invisible, noCode
	}
	return Invisible, whyInvisible(r)
}

// whyInvisible says why a construct that has code makes no call that a probe could see.
func whyInvisible(r *Region) string {
	switch r.Construct {
	case event.Loop:
		return "a static loop makes no call, and no instruction was found that each thread executes, including a thread without iterations"
	case event.Atomic:
		if r.At != 0 {
			return "a locked instruction: an atomic construct, or other code that is like one"
		}
		return "an instruction of the processor: a probe takes a hundred times as long; --probe-atomics counts it"
	case event.Flush:
		if r.At != 0 {
			return "a fence: a flush construct, or other code that is like one"
		}
		return "an instruction of the processor, which --probe-atomics counts where it can, or none"
	case event.Master, event.Masked:
		return "a comparison of the thread number, no call, and its test was not found"
	case event.Ordered:
		return "no call was found: with simd it needs none"
	}
	return "no call was found: the compiler may have removed it or merged it with another"
}
