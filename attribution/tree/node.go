package tree

import (
	"slices"

	"ompp-attach/attribution/place"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Node is a region on one call path.
type Node struct {
	Key      place.Key
	Parent   *Node
	Children []*Node
	last     int                   // index in children of the child that was asked for last
	Stats    []profile.ThreadStats // by seat; Thread is filled when the Profile is built
	Samples  Sums
	Flags    Flags
	Notes    map[string]bool
	Barrier  uint64 // ident_t of a barrier that is known to belong to the construct; 0: none is
	Number   int32  // by which a timeline knows it; 0: it has none so far
	Existing bool   // stands for the unknown place of a thread when measurement began
	Outside  bool   // of an existing node: the thread turned out to be in no region
	SeatWas  int    // of an outside node: the seat of its thread before that was known
	SeatNow  int    // and the thread's seat now

	presences []Presence // by seat; of parallel regions. The root uses only the field dense
	spreads   []Spread   // by seat

	execution *Node // cached node of the executions of tasks created here, valid in era
	era       uint32
	Creations *Creations[place.Key] // of an outermost region
}

// Stat returns the figures of a seat.
func (n *Node) Stat(seat int) *profile.ThreadStats {
	for len(n.Stats) <= seat {
		n.Stats = append(n.Stats, profile.ThreadStats{})
	}
	return &n.Stats[seat]
}

// Note adds a note on the region.
func (n *Node) Note(s string) {
	if n.Notes == nil {
		n.Notes = map[string]bool{}
	}
	n.Notes[s] = true
}

// Each calls f for all nodes of the given constructs.
func (n *Node) Each(of event.Constructs, f func(*Node)) {
	if n.Parent != nil && of.Has(n.Key.Element()) {
		f(n)
	}
	for _, c := range n.Children {
		c.Each(of, f)
	}
}

// Region returns the known parallel region that a node lies in, nil if none. Parallel regions are
// always observed.
func (n *Node) Region() *Node {
	for n = n.Parent; n != nil; n = n.Parent {
		if n.IsRegion() {
			return n
		}
	}
	return nil
}

// IsRegion tells whether a node is a known parallel region.
func (n *Node) IsRegion() bool {
	return n.Key.Construct.IsParallel() && n.Key.Construct != event.Unknown
}

// HoldsOpenMP tells whether an OpenMP construct lies below a node.
func (n *Node) HoldsOpenMP() bool {
	return slices.ContainsFunc(n.Children, func(c *Node) bool {
		switch c.Key.Construct {
		case event.MPI:
			return false
		case event.UserRegion, event.Unknown:
			return c.HoldsOpenMP()
		}
		return true
	})
}

// HoldsAnything tells whether time passed, or anything was seen, at a node.
func (n *Node) HoldsAnything() bool {
	return len(n.Children) > 0 || len(n.Samples) > 0 ||
		slices.ContainsFunc(n.Stats, func(s profile.ThreadStats) bool { return s.Exec != (profile.Sum{}) })
}

// MoveSeat moves the figures of a seat, at a node and below, to another seat.
func (n *Node) MoveSeat(from, to int) {
	if from < len(n.Stats) && from != to {
		was := n.Stats[from]
		n.Stats[from] = profile.ThreadStats{}
		n.Stat(to).Add(&was)
	}
	if from != to && n.Samples != nil {
		var moved Sums
		for id, s := range n.Samples {
			if id.Seat == from {
				id.Seat = to
			}
			moved.Add(id, s)
		}
		n.Samples = moved
	}
	for _, c := range n.Children {
		c.MoveSeat(from, to)
	}
}

// Present returns a seat's presence in a region.
func (n *Node) Present(seat int) *Presence {
	for len(n.presences) <= seat {
		n.presences = append(n.presences, Presence{})
	}
	return &n.presences[seat]
}

// SpreadUntil returns the spread of a seat as if the region's current execution ended now.
func (n *Node) SpreadUntil(seat int) (x Spread) {
	if seat < len(n.spreads) {
		x = n.spreads[seat]
	}
	if seat < len(n.Stats) {
		d := float64(n.Stats[seat].Exec.C - x.until)
		x.until, x.Squares = n.Stats[seat].Exec.C, x.Squares+d*d
	}
	return x
}

// NoteSpread notes for all constructs in a region that a seat's execution of the region is over.
func (n *Node) NoteSpread(seat int) {
	for _, c := range n.Children {
		if c.IsRegion() {
			continue
		}
		if seat < len(c.Stats) {
			for len(c.spreads) <= seat {
				c.spreads = append(c.spreads, Spread{})
			}
			c.spreads[seat] = c.SpreadUntil(seat)
		}
		c.NoteSpread(seat)
	}
}

// creator returns the innermost execution that a node lies in, nil if none.
func (n *Node) creator() *Node {
	for ; n != nil; n = n.Parent {
		if IsExecution(n.Key.Construct) {
			return n
		}
	}
	return nil
}

// entered returns the outermost execution on a path that belongs to a task's group, nil if none.
func (n *Node) entered(k place.Key, c *Creations[place.Key]) (first *Node) {
	for ; n != nil; n = n.Parent {
		if IsExecution(n.Key.Construct) && c.Same(n.Key, k) {
			first = n
		}
	}
	return first
}

// createdAt returns the node at which the task of an execution was created.
func (n *Node) createdAt() *Node {
	if p := n.Parent; Creates(p.Key.Construct) && ExecutionKey(p.Key) == n.Key {
		return p.Parent
	}
	return n.Parent
}

// Seat is a thread's seat of the figures at a node.
type Seat struct {
	Node *Node
	Seat int
}
