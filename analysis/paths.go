package analysis

import "ompp-attach/profile"

// Paths answers what a node's place in the tree says of its figures.
type Paths struct{ t *tree }

// NewPaths returns the paths of a profile's nodes.
func NewPaths(p *profile.Profile) Paths { return Paths{newTree(p)} }

// Within reports whether a thread's time at a node lies within the time of the
// same region further up, so that a sum of both would count it twice.
func (p Paths) Within(node, thread int) bool { return p.t.within(node, thread) }

// Team returns the innermost node, the given one included, that starts a team;
// -1 if there is none.
func (p Paths) Team(node int) int { return p.t.team[node] }
