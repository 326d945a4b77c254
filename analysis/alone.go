package analysis

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// teamOf returns the innermost node, the given one included, that starts a team; -1 if
// there is none.
func teamOf(p *profile.Profile, node int) int {
	for ; node > 0; node = p.Nodes[node].Parent {
		if p.Regions[p.Nodes[node].Region].Construct.IsParallel() {
			return node
		}
	}
	return -1
}

// aloneIn tells whether a thread's teams at a node had no other thread. Of a region that
// was under way when measurement began, not all threads may have told of it.
func aloneIn(p *profile.Profile, team, thread int) bool {
	if team < 0 || p.Regions[p.Nodes[team].Region].Construct == event.Unknown {
		return false
	}
	root := p.Threads[thread].Root
	for i := range p.Nodes[team].Stats {
		if other := p.Nodes[team].Stats[i].Thread; other != thread && p.Threads[other].Root == root {
			return false
		}
	}
	return true
}

// notWaiting makes the time that a thread without others spent where a team waits for
// one another that of the runtime's own work.
func (c *Classes) notWaiting(construct event.Construct) {
	c.Mgmt += c.Imbal + c.Limpar
	c.Imbal, c.Limpar = 0, 0
	if construct == event.Barrier {
		c.Mgmt += c.Synch
		c.Synch = 0
	}
}
