package match

import "cmp"

// Property is a kind of waiting.
type Property uint8

// The properties. Apart from those that Part names, no time counts for two properties. E is when a
// rank enters a call, L is when it leaves the call.
const (
	LateSender     Property = iota // E(send) - E(receive or its wait)
	LateSenderDone                 // the rest: L(receive) - L(send)
	// WrongOrder is the part of LateSender in which an older message of the same sender was there
	// already.
	WrongOrder
	WrongOrderOther   // the same, with an older message of another sender
	LateReceiver      // E(receive) - E(send or its wait), if the send went on until then
	LateReceiverDone  // the rest: L(send) - L(receive)
	LateReceiverOrder // part of LateReceiver: an older message had not been asked for yet
	WaitAtBarrier     // last E - E
	BarrierCompletion // L - the later of the last E and the first L
	WaitAtNxN         // last E - E
	NxNCompletion     // L - the later of the last E and the first L
	LateBroadcast     // E(root) - E
	EarlyReduce       // at the root: first E of the others - E
	EarlyScan         // last E of the lower ranks - E
	WaitAtInit        // last E - E
	InitCompletion    // L - the later of the last E and the first L
	WaitAtFinalize    // last E - E
	WaitAtFence       // last E - E
	WaitAtCreate      // last E - E, of a window
	WaitAtFree        // last E - E, of a window
	LatePost          // last E(post) - E(start or complete), if the call went on until then
	EarlyWait         // last E(complete) - E(wait)
	LockContention    // E(unlock of the last holder) - E(lock), if the lock went on until then
	NumProperties     // number of properties
)

// Part returns the property of which p is a part; ok is false if p is a part of none.
func (p Property) Part() (of Property, ok bool) {
	switch p {
	case WrongOrder, WrongOrderOther:
		return LateSender, true
	case LateReceiverOrder:
		return LateReceiver, true
	}
	return p, false
}

// Place is a call site of a thread of a rank.
type Place struct {
	Rank         int // in MPI_COMM_WORLD
	Site, Thread int // as in Call
}

// Wait is how long a rank waited for another one, summed over calls.
type Wait struct {
	Property Property
	At       Place
	// Due is the call that the rank waited for: the send, or the receive. For a collective
	// operation, it is the call of the rank that came last. For a completion, it is At itself.
	Due   Place
	T     int64 // ns
	Count uint64
	// Across is the number of these waits for ranks of other machines. Bound is how wrong T may be,
	// because clocks of several machines are compared (ns).
	Across uint64
	Bound  int64
}

// Reason says why a call was not matched.
type Reason uint8

// The reasons.
const (
	NoPartner Reason = iota // the partner's log has no such call, or ends before it
	NoLog                   // the partner has no log
	NoComm                  // the communicator is not known
	Wildcard                // a receive from any source, or of any tag, did not tell what came
	Cancelled               // one of the ranks cancelled requests
	// Threads of a rank sent or received at the same time: no order is known.
	Threads
	NoRule     // neighbourhood collectives, messages that unknown calls took
	Contrary   // members of the communicator called different operations
	Unaligned  // the partner ran on another machine, and their clocks cannot be compared
	Untold     // it is not known which requests the call completed
	NoGroup    // a group of ranks is not known
	Apart      // ranks that share a lock ran on several machines
	OldComm    // the communicator was made before all of its ranks were attached to
	OldRequest // the request was made, or the message taken, before the rank was attached to
	NotYet     // another rank was not attached to yet
	// NoOrder: ranks were attached to at different moments, and their calls cannot be put in order.
	NoOrder
	NumReasons // number of reasons
)

// Count says how many calls were matched, and for which reasons others were left out.
type Count struct {
	Calls, Matched uint64
	Left           [NumReasons]uint64
}

// Leave counts a call that is not matched, and why.
func (c *Count) Leave(why Reason) { c.Calls, c.Left[why] = c.Calls+1, c.Left[why]+1 }

// Result is the outcome of a run.
type Result struct {
	Waits []Wait // by property, then by At and Due
	// Sends and Receives count messages, Collectives the calls of collective operations.
	Sends, Receives, Collectives Count
	// Probes counts calls of MPI_Probe. A probe is matched if the message that it found is known.
	Probes Count
	// Requests counts calls that wait for requests (MPI_Wait and so on). Such a call is matched if
	// each operation that it completes is matched.
	Requests Count
	// Epochs counts the calls that open or close epochs on RMA windows: MPI_Win_post, start,
	// complete and wait. Such a call is matched if the other side's calls are known for all its
	// ranks.
	Epochs Count
	// Locks counts the calls that ask for a lock of an RMA window.
	Locks Count
	// Across counts the waits for ranks of other machines.
	Across Across
}

// Compare orders places by rank, then by site and thread.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Rank, o.Rank), cmp.Compare(p.Site, o.Site), cmp.Compare(p.Thread, o.Thread))
}

// Match counts calls that are matched.
func (c *Count) Match(calls uint64) { c.Calls, c.Matched = c.Calls+calls, c.Matched+calls }
