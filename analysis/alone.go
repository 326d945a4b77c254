package analysis

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// teamOf returns the innermost node that starts a team, from the given one outwards; -1 if there is
// none.
func teamOf(p *profile.Profile, node int) int {
	for ; node > 0; node = p.Nodes[node].Parent {
		if p.Regions[p.Nodes[node].Region].Construct.IsParallel() {
			return node
		}
	}
	return -1
}

// aloneIn tells whether a thread's teams at a node had no other thread. For a region that was under
// way when measurement began it answers false: some of its threads may have reported nothing.
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

// notWaiting counts the time of a thread without teammates in waits of the team as the runtime's
// own work.
func (c *Classes) notWaiting(construct event.Construct) {
	c.Mgmt += c.Imbal + c.Limpar
	c.Imbal, c.Limpar = 0, 0
	if construct.Form().Overhead == event.WaitSynch {
		c.Mgmt += c.Synch
		c.Synch = 0
	}
}
