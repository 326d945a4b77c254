package waits

import (
	"slices"

	"ompp-attach/attribution/tree"
	"ompp-attach/profile"
)

// Task is the execution of a task, from one time to another (ns). Node is nil if it is a task of
// the runtime's own.
type Task struct {
	Node     *tree.Node
	Seat     int
	From, To uint64
}

// since returns the part of a task's execution after a time (ns).
func (k *Task) since(at uint64) int64 { return max(0, int64(k.To-max(at, k.From))) }

// AwaitTask notes that a thread had nothing to do at a node from a time on (ns), until another
// thread had executed a task. The wait counts while the task was executed. The interval is that of
// the waiting thread, and may be nil.
func (iv *Interval) AwaitTask(n *tree.Node, seat int, since uint64, k *Task) {
	d := k.since(since)
	if k.To <= since || d == 0 {
		return
	}
	k.blame(n, seat, d)
	if iv == nil || !iv.Noting() {
		return
	}
	a := awaited{n, k.Node, seat, k.Seat, d}
	for i := range iv.awaited {
		if o := &iv.awaited[i]; o.at == a.at && o.of == a.of && o.by == a.by {
			o.time += d
			return
		}
	}
	if len(iv.awaited) < maxAwaited {
		iv.awaited = append(iv.awaited, a)
	}
}

// blame charges a task with the wait of a thread for it at a node (ns).
func (k *Task) blame(n *tree.Node, seat int, d int64) {
	waitsAt(n, seat).ForTask.Add(profile.Sum{T: d, C: 1})
	waitsAt(k.Node, k.Seat).OfTask.Add(profile.Sum{T: d, C: 1})
}

// Late is the tasks for which a thread waited until they were created, in one barrier or wait.
type Late []lateTasks

// lateTasks are tasks that one construct created on one thread.
type lateTasks struct {
	by   *tree.Node
	seat int
	time profile.Sum
}

// maxCreators bounds the creators that are told apart in a barrier or wait.
// The tasks of others are left out.
const maxCreators = 16

// Add notes that the thread had nothing to do for a time (ns), until a task was created. The
// construct of a node created the task, on the thread of a seat.
func (l *Late) Add(by *tree.Node, seat int, d int64) {
	for i := range *l {
		if x := &(*l)[i]; x.by == by && x.seat == seat {
			x.time.Add(profile.Sum{T: d, C: 1})
			return
		}
	}
	if len(*l) < maxCreators {
		*l = append(*l, lateTasks{by, seat, profile.Sum{T: d, C: 1}})
	}
}

// Charge charges the times, when the thread leaves the barrier or wait of a node.
func (l Late) Charge(n *tree.Node, seat int) {
	for _, x := range l {
		waitsAt(n, seat).NoTask.Add(x.time)
		waitsAt(x.by, x.seat).LateTask.Add(x.time)
	}
}

// awaited is for how long a thread waited at a node for tasks of another node, which the thread of
// the seat `by` executed.
type awaited struct {
	at, of   *tree.Node
	seat, by int
	time     int64 // ns
}

// maxAwaited bounds the places at which a thread waits for tasks between two barriers. Of waits at
// others, the critical path stays with the thread that waits.
const maxAwaited = 16

// working is what a thread does in a barrier, in the tasks that it executes there. What was before
// the team's last arrival is forgotten when it can be told.
type working struct {
	from, to uint64 // the first task that is noted; to is 0 while it is under way
	own      []pathTime
	awaited  []awaited
	last     Task // the last one that has ended
}

// BeginWork notes that a thread begins to execute a task in a barrier (ns).
func (iv *Interval) BeginWork(at uint64) {
	x := iv.at
	if x == nil || iv.running || x.dropped {
		return
	}
	iv.working, iv.tick = true, at
	w := &x.slots[iv.num].work
	if x.complete && x.at < at && w.to != 0 {
		w.after(x.at, iv.own, iv.awaited)
		return
	}
	iv.own, iv.hint, iv.awaited = iv.own[:0], 0, iv.awaited[:0]
	w.from, w.to = at, 0
}

// EndWork notes that a thread has executed a task in a barrier.
func (iv *Interval) EndWork(k *Task) {
	iv.Task(k.From, k.To)
	x := iv.at
	if x == nil || !iv.working {
		return
	}
	iv.working, x.worked = false, true
	w := &x.slots[iv.num].work
	if w.to == 0 {
		w.to = k.To
	}
	w.last = *k
	w.own, w.awaited = append(w.own[:0], iv.own...), append(w.awaited[:0], iv.awaited...)
}

// after leaves in times only what was after the last arrival (ns). The first task may have begun
// before; it is taken to have done the same all the time.
func (w *working) after(last uint64, own []pathTime, waited []awaited) {
	if w.to == 0 || w.from >= last {
		return
	}
	part := 0.0
	if w.to > last {
		part = float64(w.to-last) / float64(w.to-w.from)
	}
	for i := range own {
		own[i].all = int64(float64(own[i].all) * part)
	}
	for i := range waited {
		waited[i].time = int64(float64(waited[i].time) * part)
	}
	w.from = last
}

// chargeTasks charges what happened after the last arrival at a barrier, while tasks were left.
// Threads without a task waited for the thread that executed a task last. The critical path is that
// thread's time in tasks. If a task began before, all of it counts in that proportion.
func (x *instance) chargeTasks(nested bool) {
	if !x.worked || x.dropped || !x.complete {
		return
	}
	var l *slot
	for i := range x.slots {
		if s := &x.slots[i]; s.work.last.To > x.at && (l == nil || s.work.last.To > l.work.last.To) {
			l = s
		}
	}
	if l == nil {
		return
	}
	k := &l.work.last
	for i := range x.slots {
		s := &x.slots[i]
		if s == l || s.lost || k.Node == nil || s.leave != 0 && s.leave < k.To {
			continue
		}
		if d := k.since(max(x.at, s.work.last.To)); d > 0 {
			k.blame(s.barrier, s.seat, d)
		}
	}
	if nested {
		return
	}
	l.work.after(x.at, l.work.own, l.work.awaited)
	onPath(l.work.own, l.work.awaited)
}

// onPath charges the critical path: a thread's times, of which the parts in which it waited for a
// task count for the task.
func onPath(own []pathTime, waited []awaited) {
	for i := range own {
		if p := &own[i]; p.all != 0 && p.node != nil {
			waitsAt(p.node, p.seat).OnPath += p.all
		}
	}
	for i := range waited {
		a := &waited[i]
		waitsAt(a.of, a.by).OnPath += a.time
		if noted(own, a.at) {
			waitsAt(a.at, a.seat).OnPath -= a.time
		}
	}
}

// noted tells whether times are told apart for a node.
func noted(own []pathTime, n *tree.Node) bool {
	return slices.ContainsFunc(own, func(p pathTime) bool { return p.node == n })
}
