package tree

// Presence is a seat's part in a parallel region as far as it is known at once. The region's own
// figures come when all threads of the team have reported, which may be a second later.
type Presence struct {
	Count int64 // executions of the region that the seat has begun
	Time  int64 // time in executions that are over, or still open at the reading, ns
	Taken int64 // time that probes took in them, ns
	Dense int64 // the part of paid in blocks in which probes took most of the time
	Open  bool  // an execution was under way at the reading
}

// Spread tells how evenly a seat's executions at a node are distributed over the executions of the
// region around it. If one execution of the region has most of them, the observed executions tell
// nothing about the unobserved ones.
type Spread struct {
	until   uint64  // number of the node's executions when the region's last execution ended
	Squares float64 // sum of the squared number of executions in each of the region's executions
}

// Presence returns a seat's presence in a region so far.
func (n *Node) Presence(seat int) (p Presence) {
	if seat < len(n.presences) {
		p = n.presences[seat]
	}
	return p
}
