package profile

// Waits are a thread's figures at one node about waiting: how long the thread waited there, and
// how long others waited for it. A thread waits at a barrier from its own arrival to that of the
// team's last thread. Times are in ns, and hold no tasks that the thread executed meanwhile.
type Waits struct {
	// At a barrier, explicit or implicit: the wait for the last thread. C is the number of this
	// thread's arrivals of which the last arrival of the team is known.
	Wait Sum `json:"wait,omitzero"`
	// Done is the time from the last thread's arrival until the thread left the barrier. C is
	// the number of arrivals in Wait of which the leaving is known too.
	Done Sum `json:"done,omitzero"`
	// Last says how often this thread was the last to arrive (C), and how long all the others
	// together waited for it then (T).
	Last Sum `json:"last,omitzero"`
	// Late is the same as Last, at the node from which the last thread came: the region that it
	// was in before the barrier.
	Late Sum `json:"late,omitzero"`
	// Delay is the part of the others' waits that is due to this thread's time at this node. It
	// spent more time there than they did since the team's threads were last together.
	Delay int64 `json:"delay,omitempty"`
	// NoCore is the part of Late that is due to the scheduler (ns). The late thread was ready
	// to run, but had no core, for that much longer than the threads that waited for it.
	NoCore int64 `json:"no_core,omitempty"`
	// Indirect is the part of Wait that is due to the late thread's own waiting (ns). Passed is the
	// same at that thread's node, where it waited. Far is the part of Passed that is due to this
	// thread, at the node where it held the lock for which the late thread waited, or at the task.
	Indirect int64 `json:"indirect,omitempty"`
	Passed   int64 `json:"passed,omitempty"`
	Far      int64 `json:"far,omitempty"`
	// OnPath is the time of this thread at this node that is on the critical path of the team's
	// execution (ns). Before each barrier, that is the late thread's time. After it, this is the
	// time in tasks of the thread that executed a task last there. What the thread waited for a
	// lock counts for the lock's holder, and what it waited for a task, for the task.
	OnPath int64 `json:"on_path,omitempty"`
	// NoTask is the part of Wait and Done, or of the time without a task in a wait for tasks,
	// before a task was created that the thread then executed there. The thread had nothing to
	// do. C is the number of these tasks.
	NoTask Sum `json:"no_task,omitzero"`
	// LateTask is the same, at the construct and thread that created the tasks.
	LateTask Sum `json:"late_task,omitzero"`
	// ForTask is the part of Done, or of the time without a task in a wait for tasks, in which
	// another thread executed the last task that was waited for. C is the number of these
	// waits. OfTask is the same, at the task's execution and at the thread that executed it.
	ForTask Sum `json:"for_task,omitzero"`
	OfTask  Sum `json:"of_task,omitzero"`
	// Contended is the part of Enter of a critical or lock in which other threads of the team held
	// it. C is the number of executions in which that was so; where executions were added up, of
	// all of them.
	Contended Sum `json:"contended,omitzero"`
	// Handed is the part of Enter in which nobody held the lock: it was handed over (ns).
	Handed int64 `json:"handed,omitempty"`
	// NoHolder is the part of Enter of a critical or lock of which it is not known who held it: it
	// is in neither Contended nor Handed. C is the number of executions; where executions were
	// added up, of all of them.
	NoHolder Sum `json:"no_holder,omitzero"`
	// Held is the time that other threads waited while this thread held the lock here. C is the
	// number of their executions in Contended for which this thread held it longest.
	Held Sum `json:"held,omitzero"`
	// Shared is the part of Contended and Held that is derived (ns). Executions had been added
	// up, and the wait was shared out by how long each thread held the lock meanwhile.
	Shared int64 `json:"shared,omitempty"`
	// Dropped is the number of arrivals at a barrier of which the last arrival of the team is
	// not known.
	Dropped uint64 `json:"dropped,omitempty"`
}

// spans lists the times of w that have a count.
func (w *Waits) spans() [11]*Sum {
	return [11]*Sum{&w.Wait, &w.Done, &w.Last, &w.Late, &w.NoTask, &w.LateTask, &w.ForTask, &w.OfTask, &w.Contended, &w.Held, &w.NoHolder}
}

// times lists the times of w that have no count (ns).
func (w *Waits) times() [8]*int64 {
	return [8]*int64{&w.Delay, &w.NoCore, &w.Indirect, &w.Passed, &w.Far, &w.OnPath, &w.Handed, &w.Shared}
}

// Plus returns the sum of two threads', or two places', figures; either may be nil. It changes
// neither.
func (w *Waits) Plus(o *Waits) *Waits {
	if w == nil || o == nil {
		if w == nil {
			return o
		}
		return w
	}
	sum := *w
	for i, s := range sum.spans() {
		s.Add(*o.spans()[i])
	}
	for i, t := range sum.times() {
		*t += *o.times()[i]
	}
	sum.Dropped += o.Dropped
	return &sum
}

// minus takes away an earlier state of the same figures.
func (w *Waits) minus(o *Waits) *Waits {
	if w == nil || o == nil {
		return w
	}
	out := *w
	for i, s := range out.spans() {
		s.subtract(*o.spans()[i])
	}
	for i, t := range out.times() {
		*t -= *o.times()[i]
	}
	out.Dropped = less(out.Dropped, o.Dropped)
	if out == (Waits{}) {
		return nil
	}
	return &out
}

// caused returns the figures about the waits of others, without those about the thread's own; nil
// if there are none.
func (w *Waits) caused() *Waits {
	if w == nil {
		return nil
	}
	out := Waits{Late: w.Late, LateTask: w.LateTask, OfTask: w.OfTask, Delay: w.Delay, NoCore: w.NoCore, Passed: w.Passed, Far: w.Far, OnPath: w.OnPath}
	if out == (Waits{}) {
		return nil
	}
	return &out
}
