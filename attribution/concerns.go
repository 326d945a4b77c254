package attribution

import (
	"ompp-attach/attribution/calls"
	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/queue"
	"ompp-attach/attribution/samples"
	"ompp-attach/attribution/seats"
	"ompp-attach/attribution/sharing"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/attribution/user"
	"ompp-attach/attribution/waits"
	"ompp-attach/profile"
)

// engine is what stands behind the front door, Engine. Its parts are concerns, each with its own
// state. A concern knows those that it embeds, and no others.
type engine struct {
	*stack.Stacks
	*threads
	*progress

	*parallel
	*sharing.Constructs
	*exclusive
	*tasking
	*calls.MPI
	*inlined
	*observing

	user   *user.Regions
	clock  clock
	events uint64
	edges  profile.Edges
	chunks queue.Chunks  `copy:"-"`
	order  []waiting     `copy:"-"` // scratch copy of parked, for advanceParked
	crowd  int           // number of threads at which to look for idle ones
	goOnBy *stack.Thread // reached a marker that switches measurement on; nil: none did
	goOnAt uint64
}

func newEngine(pid uint32, r Resolver) *engine {
	t, l, rs := tree.New(r), &ledger.Ledger{}, seats.New()
	st := &stack.Stacks{Existing: stack.Existing{Whereabouts: map[uint32]*tree.Node{}, Charges: stack.Charges{
		Tree: t, Ledger: l, Seats: rs,
		Teams:       &stack.Teams{Sampling: &stack.Sampling{Store: &samples.Store{}, Tree: t}, Tree: t, Ledger: l, Seats: rs, TeamsByKey: map[stack.TeamKey]*stack.TeamList{}, Barriers: stack.Barriers{Waits: &waits.Meter{}}},
		Measurement: stack.Measurement{Pid: pid, Older: map[uint32]bool{}},
		Missing:     stack.Missing{Losses: map[tree.Seat]uint64{}},
	}}}
	ts, pg := &threads{byID: map[uint32]*stack.Thread{}}, &progress{}
	tk := &tasking{Stacks: st, progress: pg, tasksByKey: map[taskKey]*task{}, untied: map[uint64]bool{}}
	return &engine{
		Stacks: st, threads: ts, progress: pg,
		parallel: &parallel{Stacks: st, progress: pg}, Constructs: &sharing.Constructs{Stacks: st}, exclusive: &exclusive{Stacks: st, threads: ts},
		tasking: tk, user: &user.Regions{Stacks: st}, MPI: &calls.MPI{Stacks: st}, inlined: &inlined{st},
		observing: &observing{Stacks: st, tasking: tk, threads: ts, progress: pg, gaps: estimate.NewGaps(t)},
	}
}
