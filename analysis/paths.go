package analysis

import "ompp-attach/profile"

// Paths answers questions about a node's place in the tree.
type Paths struct{ t *tree }

// NewPaths returns the paths of a profile's nodes.
func NewPaths(p *profile.Profile) Paths { return Paths{newTree(p)} }

// Within reports whether a thread's time at a node lies within the time of the same region further
// up. A sum of both would count that time twice.
func (p Paths) Within(node, thread int) bool { return p.t.within(node, thread) }

// Team returns the innermost node that starts a team, from the given one outwards; -1 if there is
// none.
func (p Paths) Team(node int) int { return p.t.team[node] }
