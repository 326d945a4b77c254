package probes

import (
	"fmt"

	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// TaskFinder finds where a runtime library creates, starts and ends tasks. It holds what libgomp
// and libomp have in common. Which calls are of tasks' functions, each runtime knows by itself.
type TaskFinder struct {
	*callgraph.Graph
	Points  TaskPoints
	Runners []uint64 // entries of the functions that call tasks' functions
}

// NewTaskFinder returns a finder that has found nothing yet.
func NewTaskFinder(o *symbols.Object) TaskFinder {
	return TaskFinder{Graph: callgraph.New(o), Points: TaskPoints{Exits: map[string][]callgraph.Point{}}}
}

// TaskStep is a step of the search. What names what Find looks for, in errors.
type TaskStep struct {
	What string
	Find func() error
}

// Locate takes the steps one by one, and returns the points. The error is of the first step that
// failed; library is the library's name.
func (t *TaskFinder) Locate(library string, steps ...TaskStep) (TaskPoints, error) {
	for _, step := range steps {
		if err := step.Find(); err != nil {
			return TaskPoints{}, fmt.Errorf("locating in %s %s: %w", library, step.What, err)
		}
	}
	return t.Points, nil
}

// FindRuns finds the calls of tasks' functions in the functions that the named entry points reach
// by at most depth calls. taskOf returns the task whose function a call executes, or false for
// another call.
func (t *TaskFinder) FindRuns(names []string, depth int, taskOf func(*values.State, disasm.Inst) (values.Value, bool)) error {
	var from []uint64
	for _, name := range names {
		from = append(from, t.Object.Symbol(name)...)
	}
	for _, entry := range t.PointerCallers(t.Reachable(from, depth)) {
		f, err := t.Read(entry)
		if err != nil {
			return fmt.Errorf("function at %#x: %w", entry, err)
		}
		tasks := map[uint64]*values.Value{}
		var runs []disasm.Inst
		for _, c := range t.PointerCalls(entry) {
			if s, ok := f.Flow.At(c.Addr); ok {
				if task, ok := taskOf(s, c); ok {
					tasks[c.Addr] = &task
					runs = append(runs, c)
				}
			}
		}
		if len(runs) == 0 {
			continue
		}
		if err := t.AddRuns(f, runs, func(c disasm.Inst) *values.Value { return tasks[c.Addr] }, t.NameOf(entry)); err != nil {
			return err
		}
		t.Runners = append(t.Runners, entry)
	}
	return nil
}

// AddRuns adds the points around calls of tasks' functions in the function name.
func (t *TaskFinder) AddRuns(f *callgraph.Function, runs []disasm.Inst, task func(disasm.Inst) *values.Value, name string) error {
	begin, end, err := f.Around(runs, task)
	t.Points.Begin = append(t.Points.Begin, callgraph.In(name, begin)...)
	t.Points.End = append(t.Points.End, callgraph.In(name, end)...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// FindExits finds where the named entry points return. follow returns for each of them the
// functions into which its exits are followed.
func (t *TaskFinder) FindExits(names []string, follow func(name string) map[uint64]bool) error {
	busy := t.Reaching(t.Runners, callgraph.AnyDepth)
	for _, name := range names {
		for _, entry := range t.Object.Symbol(name) {
			points, err := t.Exits(entry, busy, follow(name))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			t.Points.Exits[name] = points
		}
	}
	return nil
}
