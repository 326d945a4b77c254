package collect

import (
	"ompp-attach/attribution"
	"ompp-attach/event"
)

const noteEarlyTask = "the creation of these tasks was not seen"

// task places a task, and its executions, by its outlined function, which is
// its own however often the compiler has copied the call that creates it.
func (r *resolver) task(k attribution.Key, reg *attribution.Region) {
	loc := &reg.Location
	p, ok := r.at(k.Fn)
	if !ok {
		loc.Offset = k.Fn
		if k.Fn == 0 {
			reg.Notes = append(reg.Notes, noteEarlyTask)
		}
		return
	}
	r.address(p, false, loc)
	x, ok := p.object.Outlined(p.vaddr)
	if !ok {
		return
	}
	*loc = withExtent(*loc, x)
	words := "task"
	if k.Construct == event.TaskLoop {
		words = "taskloop"
	}
	for _, w := range []string{words, "taskloop", ""} { // executions of a taskloop's tasks; combined directives
		if d, ok := directiveAt(p.object, loc, w); ok {
			loc.Begin, loc.End, loc.EndMark = d.Begin, d.End, attribution.Exact
			return
		}
	}
}
