package timeline

import (
	"fmt"
	"time"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Dictionary says what the numbers in spans mean. Regions, Nodes and Threads are those of the
// engine's profile. The written profile may have fewer: some are hidden at the user's wish.
type Dictionary struct {
	Meta    profile.Meta     `json:"meta"`
	Regions []profile.Region `json:"regions"`
	Nodes   []Node           `json:"nodes"` // Nodes[0] is the root
	Threads []profile.Thread `json:"threads"`
	// Stops are the intervals of CLOCK_MONOTONIC that the engine's clock leaves out.
	Stops event.Stops `json:"stops,omitempty"`

	// NodeOf and SeatOf translate the engine's numbers: index in Nodes and Threads; -1: none.
	NodeOf []int32 `json:"node_of,omitempty"`
	SeatOf []int32 `json:"seat_of,omitempty"`
	// Within names the engine's nodes that the profile shows as a part of the node around: the loop
	// of a combined construct. Their spans count for nothing by themselves.
	Within []int32 `json:"within,omitempty"`
	// Moved lists the nodes at which spans of one seat belong to another.
	Moved []Moved `json:"moved,omitempty"`
	// Kept says which of the longest executions are there; nil: the plan did not ask for these.
	Kept *Kept `json:"kept,omitempty"`
	// Unresolved: the recording was cut off. Nodes are addresses, and no place is known.
	Unresolved bool `json:"unresolved,omitempty"`
}

// Kept describes a recording of the longest executions. It holds these, and all spans of the
// process that were under way during one of them.
type Kept struct {
	Longest int `json:"longest"` // executions of each region
	// What the user asked for; Longest is lower if memory held no more.
	Wanted int `json:"wanted"`
	// ns: of a longer execution only its own span is there; 0: no limit.
	Whole uint64 `json:"whole,omitempty"`
	// Spans that were recorded; the file holds some of them.
	Spans   uint64 `json:"spans"`
	Without int    `json:"without,omitempty"` // regions of which memory held no execution
}

// Sentences describes the recording to a user. kept is the number of spans in the file.
func (k *Kept) Sentences(kept uint64) string {
	text := fmt.Sprintf("The timeline holds the %d longest executions of each region, and what was under way meanwhile: %d of %d executions.", k.Longest, kept, k.Spans)
	if k.Longest == 1 {
		text = fmt.Sprintf("The timeline holds the longest execution of each region, and what was under way meanwhile: %d of %d executions.", kept, k.Spans)
	}
	if k.Longest < k.Wanted {
		text += fmt.Sprintf(" There was no memory for %d of each.", k.Wanted)
	}
	if k.Whole > 0 {
		text += fmt.Sprintf(" Of executions longer than %s, memory did not hold all that was under way meanwhile.", time.Duration(k.Whole))
	}
	if k.Without > 0 {
		text += fmt.Sprintf(" There was no memory for any execution of %d regions.", k.Without)
	}
	return text
}

// Missing names the constructs that are missing in a gap; empty: all. Levels that were let go have
// the user's names.
func (d *Dictionary) Missing(g *Gap) string {
	for i := range d.Meta.Observations {
		x := &d.Meta.Observations[i]
		// MarshalText cannot fail.
		if of, _ := x.Of.MarshalText(); x.Name != "" && string(of) == g.What {
			return x.Name
		}
	}
	return g.What
}

// Node is a region on its path.
type Node struct {
	Parent int `json:"parent"` // index in Nodes; -1: this is the root
	Region int `json:"region"` // index in Regions; -1: this is the root
}

// Moved says that a node's spans of one seat belong to another one.
type Moved struct {
	Node int32 `json:"node"`
	From int32 `json:"from"`
	To   int32 `json:"to"`
}

// Monotonic converts a time of the engine's clock to CLOCK_MONOTONIC (ns).
func (d *Dictionary) Monotonic(t uint64) uint64 { return d.Stops.Monotonic(t) }

// translator turns the engine's numbers in spans into those of a dictionary.
type translator struct {
	*Dictionary
	within map[int32]bool
	moved  map[[2]int32]int32
	ops    []mpi.Op // by region
}

func newTranslator(d *Dictionary) *translator {
	tr := &translator{d, map[int32]bool{}, map[[2]int32]int32{}, make([]mpi.Op, len(d.Regions))}
	for i := range d.Regions {
		if r := &d.Regions[i]; r.Construct == event.MPI {
			tr.ops[i], _ = mpi.ParseOp(r.Name)
		}
	}
	for _, id := range d.Within {
		tr.within[id] = true
	}
	for _, m := range d.Moved {
		tr.moved[[2]int32{m.Node, m.From}] = m.To
	}
	return tr
}

// translate changes a span. It tells whether the span is one of the profile's, or a part of one
// (Within).
func (tr *translator) translate(s *Span) bool {
	if s.Flags &^= Within; tr.within[s.Node] {
		s.Flags |= Within
	}
	if len(tr.moved) > 0 {
		if to, ok := tr.moved[[2]int32{s.Node, s.Thread}]; ok {
			s.Thread = to
		}
	}
	s.Node, s.Thread = at(tr.NodeOf, s.Node), at(tr.SeatOf, s.Thread)
	if s.Node <= 0 || int(s.Node) >= len(tr.Nodes) {
		return false
	}
	if s.Kind == Call {
		s.Call.Op = tr.ops[tr.Nodes[s.Node].Region]
	}
	return true
}

// valid tells whether a dictionary's numbers lie within its lists.
func (d *Dictionary) valid() bool {
	for i, n := range d.Nodes {
		if (i == 0) != (n.Parent < 0) || n.Parent >= i || (i == 0) != (n.Region < 0) || n.Region >= len(d.Regions) {
			return false
		}
	}
	for _, r := range d.SeatOf {
		if int(r) >= len(d.Threads) {
			return false
		}
	}
	return len(d.Nodes) > 0
}

func at(list []int32, i int32) int32 {
	if i < 0 || int(i) >= len(list) {
		return -1
	}
	return list[i]
}

// fromDefinitions makes the dictionary of a recording that was cut off.
func fromDefinitions(defs []Definition, seats []Seat) *Dictionary {
	d := &Dictionary{Unresolved: true, Nodes: []Node{{-1, -1}}, NodeOf: []int32{0}}
	for _, r := range seats {
		if r.Seat < 0 || int(r.Seat) != len(d.Threads) { // told in order
			continue
		}
		d.SeatOf = append(d.SeatOf, r.Seat)
		d.Threads = append(d.Threads, profile.Thread{Root: r.Root, Num: r.Num})
	}
	regions := map[Definition]int{}
	for _, f := range defs {
		parent := at(d.NodeOf, f.Parent)
		if int(f.ID) != len(d.NodeOf) || parent < 0 {
			continue
		}
		r := profile.Region{Construct: f.Construct, Name: f.Name, Runtime: f.Runtime.String(), Location: profile.Location{Offset: f.Address}}
		key := Definition{Construct: f.Construct, Address: f.Address, Name: f.Name}
		i, ok := regions[key]
		if !ok {
			i = len(d.Regions)
			regions[key] = i
			d.Regions = append(d.Regions, r)
		}
		d.NodeOf = append(d.NodeOf, int32(len(d.Nodes)))
		d.Nodes = append(d.Nodes, Node{int(parent), i})
	}
	return d
}
