package build

import (
	"slices"

	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// What the numbers in a recorded timeline mean. Nodes have joined, moved, or become a part of
// another one since they were numbered, and seats are in another order.

// enter notes the node of the profile that a node has become.
func (in *Input) enter(n *built, index int) {
	d := in.Timeline
	if d == nil {
		return
	}
	for _, list := range [][]int32{n.numbers, n.parts} {
		for _, id := range list {
			for len(d.NodeOf) <= int(id) {
				d.NodeOf = append(d.NodeOf, -1)
			}
			d.NodeOf[id] = int32(index)
		}
	}
	d.Within = append(d.Within, n.parts...)
}

// take notes that a construct has become a part of another one.
func (n *built) take(c *built) {
	n.parts = slices.Concat(n.parts, c.numbers, c.parts)
}

// seatsOf returns the profile's seat of each of the engine's seats.
// Seats without figures have none.
func seatsOf(seats []int, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(seats[i])
	}
	return out
}

// complete writes the profile's nodes, regions and threads to the dictionary. to tells the new seat
// of each old one; nil: they are the same.
func (in *Input) complete(p *profile.Profile, to []int) {
	d := in.Timeline
	for _, n := range p.Nodes {
		d.Nodes = append(d.Nodes, timeline.Node{Parent: n.Parent, Region: n.Region})
	}
	d.Regions, d.Threads = slices.Clone(p.Regions), slices.Clone(p.Threads)
	for i, r := range d.SeatOf {
		if to != nil {
			d.SeatOf[i] = int32(to[r])
		}
	}
}
