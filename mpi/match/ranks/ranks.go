package ranks

import "ompp-attach/mpi/match"

// Rank is a rank of which a log is read. The reader sets Call, Now, Busy and Over.
type Rank struct {
	Log   *match.RankCalls
	Index int      // of its log
	Call  int      // number of the latest call; -1: none yet
	Now   uint64   // when this call began (ns)
	Busy  uint64   // when the last of its calls so far ended (ns)
	Over  bool     // there are no more calls
	Comms []*Group // by index in RankCalls.Comms; nil: the communicator has no name
	// Init and Finalize are the groups of MPI_Init and MPI_Finalize; nil: MPI_COMM_WORLD has no
	// name.
	Init, Finalize *Group
}

// In returns the group of a call's communicator, and the rank's number in that group.
func (k *Rank) In(c *match.Call) (g *Group, own int32, ok bool) {
	if c.Comm < 0 || c.Comm >= len(k.Comms) || k.Comms[c.Comm] == nil {
		return nil, 0, false
	}
	return k.Comms[c.Comm], k.Log.Comms[c.Comm].Rank, true
}

// World returns the group of MPI_COMM_WORLD; nil: it has no name.
func (k *Rank) World() *Group {
	if len(k.Comms) == 0 {
		return nil
	}
	return k.Comms[0]
}

// Unnamed says why a communicator of the rank has no name.
func (k *Rank) Unnamed() match.Reason {
	if k.Log.Attached {
		return match.OldComm
	}
	return match.NoComm
}

// Place returns the place of a call of the rank.
func (k *Rank) Place(c *match.Call) match.Place {
	return match.Place{Rank: k.Log.Rank, Site: c.Site, Thread: c.Thread}
}

// Group is a communicator.
type Group struct {
	Index   int // in All.Groups
	Size    int32
	Members map[int32]*Rank
	Doubted bool // two ranks claim to be the same member
	Old     bool // the communicator was there before a member was attached to
	Lost    bool // it is not known with which collective operation a member's log begins
	judged  bool // partial and apart have been computed
	partial bool // some member has no log
	apart   bool // the clocks of some members' machines cannot be compared
}

func (g *Group) join(own int32, k *Rank) {
	if g.Members[own] != nil && g.Members[own] != k {
		g.Doubted = true
	}
	g.Members[own] = k
}

// Lacks reports whether, and why, operations of all members cannot be matched.
func (g *Group) Lacks(clocks *Clocks) (why match.Reason, lacks bool) {
	if !g.judged {
		g.judged, g.partial = true, g.Doubted || len(g.Members) != int(g.Size)
		g.apart = clocks.apart(g)
	}
	if g.partial {
		return match.NoLog, true
	}
	if g.Lost {
		return match.NoOrder, true
	}
	return match.Unaligned, g.apart
}

// All are the ranks and communicators of a job.
type All struct {
	Ranks  []*Rank // by index of log
	Groups []*Group
	byName map[string]*Group
}

// Of returns the ranks of logs.
func Of(logs []*match.RankCalls) *All {
	a := &All{byName: map[string]*Group{}}
	for _, l := range logs {
		a.enroll(l)
	}
	return a
}

// enroll notes a rank and its communicators.
func (a *All) enroll(l *match.RankCalls) {
	k := &Rank{Log: l, Index: len(a.Ranks), Call: -1}
	for _, c := range l.Comms {
		var g *Group
		if c.Name != "" && c.Size > 0 && c.Rank >= 0 && c.Rank < c.Size {
			g = a.group(c.Name, c.Size)
			g.join(c.Rank, k)
			g.Old = g.Old || c.Old
		}
		k.Comms = append(k.Comms, g)
	}
	if g := k.World(); g != nil {
		w := l.Comms[0]
		g.Lost = g.Lost || l.Attached && !l.Start.Known
		k.Init, k.Finalize = a.group(w.Name+"\x00begin", w.Size), a.group(w.Name+"\x00end", w.Size)
		k.Init.join(w.Rank, k)
		k.Finalize.join(w.Rank, k)
	}
	a.Ranks = append(a.Ranks, k)
}

func (a *All) group(name string, size int32) *Group {
	g := a.byName[name]
	if g == nil {
		g = &Group{Index: len(a.Groups), Size: size, Members: map[int32]*Rank{}}
		a.byName[name] = g
		a.Groups = append(a.Groups, g)
	}
	return g
}
