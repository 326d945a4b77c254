package job

import (
	"fmt"
	"maps"
	"slices"

	"ompp-attach/job/comms"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/clocks"
	"ompp-attach/mpi/critical"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// Waits between ranks. Profiles may hold their ranks' MPI calls one by one. When all profiles have
// been read, the calls are matched (package match). Then the profiles are read once more, with the
// waits added to the MPI call sites.

// Matching says how many MPI calls of the job's ranks were matched.
type Matching struct {
	match.Result
	Ranks []int // the ranks with matched calls
	// LeftOut are the ranks whose calls could not be matched, by the reason.
	LeftOut map[string][]int
	// Cut are the ranks with calls that are known only up to some time. Left is the number of calls
	// for which there was no room.
	Cut  []int
	Left uint64
	// Joined are the ranks that were attached to: earlier calls are not known.
	Joined []int

	// Machines are the machines of these ranks, if there are several. Clocks compares their clocks;
	// nil: there is one machine.
	Machines []Machine
	Clocks   *clocks.Alignment

	// Path is the critical path of the job; nil: the calls of some ranks are not known.
	Path *critical.Result

	parts  []partOfPath           // of Path
	sites  map[int][]calllog.Site // by rank
	shares map[int]pathShares     // by rank
	aside  map[string]int64       // sum of rankCalls.aside over all ranks
}

// rankCalls are a rank's calls.
type rankCalls struct {
	rank   int
	log    *calllog.Log
	comms  comms.Rank
	clock  *clocks.Record   // nil: an older version recorded the profile
	start  int64            // the process's start, ns since 1970
	paths  []string         // by site: its call path
	places []sitePlace      // by site
	aside  map[string]int64 // by operation: time in calls that are not recorded one by one, ns
	joined joined           // if the rank was attached to
	why    string           // why the rank takes no part in matching; empty: it does
}

// callsOf takes the calls out of a profile; nil: the profile has none.
func callsOf(p *profile.Profile, rank int) *rankCalls {
	if p.Calls == nil {
		return nil
	}
	m := &p.Meta
	c := &rankCalls{rank: rank, log: p.Calls, comms: comms.Of(p, rank), clock: m.Clock, start: m.Start.UnixNano(), paths: callPaths(p), places: sitePlaces(p), aside: asideOf(p), joined: joinedOf(p)}
	switch {
	case m.MPI == nil || m.MPI.Rank != rank || m.MPI.Size <= 0:
		c.why = "their ranks in MPI_COMM_WORLD are not known"
	case m.Off.C > 0:
		c.why = "measuring was off meanwhile"
	case len(m.Observations) > 0:
		c.why = "some constructs were not observed all of the time"
	case m.LostHits > 0 && len(p.Calls.Threads) > 1 && !p.Calls.Lost:
		c.why = "records were lost, and several threads called MPI"
	}
	return c
}

// matchCalls matches the calls of ranks. complete says that all ranks of the job were read.
func matchCalls(ranks []*rankCalls, complete bool) *Matching {
	out := &Matching{LeftOut: map[string][]int{}, sites: map[int][]calllog.Site{}}
	var all []*comms.Rank
	for _, r := range ranks {
		all = append(all, &r.comms)
	}
	var taken []*rankCalls
	for _, r := range ranks {
		if r.why != "" {
			out.LeftOut[r.why] = append(out.LeftOut[r.why], r.rank)
			continue
		}
		out.Ranks = append(out.Ranks, r.rank)
		out.sites[r.rank] = r.log.Sites
		if r.log.Until != 0 {
			out.Cut, out.Left = append(out.Cut, r.rank), out.Left+r.log.Left
		}
		if r.joined.attached {
			out.Joined = append(out.Joined, r.rank)
		}
		taken = append(taken, r)
	}
	aligned(taken)
	out.run(taken, comms.Join(all, complete), complete && len(out.LeftOut) == 0)
	return out
}

// toMatch returns the rank's calls in the form that package match takes.
func (r *rankCalls) toMatch(groups comms.Groups) *match.RankCalls {
	l := &match.RankCalls{Rank: r.rank, Host: r.machine(), Cancels: r.log.Cancels, Attached: r.joined.attached,
		Start: r.joined.start, Makings: r.joined.makings, MakingsUntil: r.joined.until, Backlog: r.joined.backlog}
	if r.log.Until != 0 {
		l.Until = r.log.Monotonic(r.log.Until)
	}
	for i := range r.comms.List {
		c := &r.comms.List[i]
		x := match.Comm{Size: c.Size, Rank: c.Rank}
		switch {
		case r.comms.IsWindow(i) && r.comms.Names != nil:
			if x = l.Comms[c.Parent]; x.Name != "" { // it has the same members as the parent
				x.Name, x.Old = r.comms.Names[i], false
			}
		case i == 0:
			x = r.world()
		case c.Parent < 0 && c.Size == 1 && !c.Several:
			x.Name, x.Old = fmt.Sprintf("self %d", r.rank), r.joined.attached
		case r.comms.Names != nil:
			x.Name = r.comms.Names[i]
			if !groups.Known(x.Name) {
				x.Name = ""
			}
		}
		l.Comms = append(l.Comms, x)
	}
	if len(l.Comms) == 0 { // no call named a communicator
		l.Comms = []match.Comm{r.world()}
	}
	for i := range r.log.Threads {
		l.Threads = append(l.Threads, r.log.Reader(i))
	}
	return l
}

// world returns MPI_COMM_WORLD in the form that package match takes.
func (r *rankCalls) world() match.Comm {
	return match.Comm{Name: "world", Size: int32(r.comms.JobSize), Rank: int32(r.rank), Old: r.joined.attached}
}

// place returns a place's node and thread in the rank's profile; ok is false if there are none.
func (m *Matching) place(p match.Place) (at calllog.Site, ok bool) {
	sites := m.sites[p.Rank]
	if p.Site < 0 || p.Site >= len(sites) {
		return at, false
	}
	at = sites[p.Site]
	return at, at.Node >= 0
}

// apply adds the waits to a rank's profile.
func (m *Matching) apply(p *profile.Profile, rank int) {
	if m == nil {
		return
	}
	m.applyPath(p, rank)
	for _, w := range m.Waits {
		if w.At.Rank == rank {
			if x := m.statsAt(p, w.At); x != nil {
				span := profile.Sum{T: w.T, C: w.Count}
				x.Waits[w.Property].Add(span)
				if due, ok := m.place(w.Due); ok && w.Due != w.At {
					x.Due = append(x.Due, profile.Due{Property: w.Property, Rank: w.Due.Rank, Node: due.Node, Thread: due.Thread, Sum: span, Bound: w.Bound})
				}
			}
		}
		if _, part := w.Property.Part(); w.Due.Rank == rank && w.Due != w.At && !part {
			if x := m.statsAt(p, w.Due); x != nil {
				x.Caused.Add(profile.Sum{T: w.T, C: w.Count})
			}
		}
	}
}

// statsAt returns the waits at a place in a profile, for the caller to add to; nil: the profile
// lacks the place.
func (m *Matching) statsAt(p *profile.Profile, at match.Place) *profile.RankWaits {
	s, ok := m.place(at)
	if !ok || s.Node >= len(p.Nodes) {
		return nil
	}
	stats := p.Nodes[s.Node].Stats
	i := slices.IndexFunc(stats, func(x profile.ThreadStats) bool { return x.Thread == s.Thread })
	if i < 0 {
		return nil
	}
	if stats[i].Ranks == nil {
		stats[i].Ranks = &profile.RankWaits{}
	}
	return stats[i].Ranks
}

// reasons says in words why calls were not matched.
var reasons = [match.NumReasons]string{
	match.NoPartner: "the other side was not recorded",
	match.NoLog:     "the other rank was not recorded",
	match.Unaligned: "the other rank ran on another machine, and their clocks cannot be compared",
	match.NoComm:    "the communicator is not known",
	match.Wildcard:  "a receive did not tell from whom, or with which tag",
	match.Cancelled: "a rank cancelled requests",
	match.Threads:   "threads of a rank sent or received at the same time",
	match.NoRule:    "there is no rule for the operation",
	match.Contrary:  "members called different operations",
	match.Untold:    "it is not known which requests were completed",
	match.NoGroup:   "a group of ranks is not known",
	match.Apart:     "the window's ranks ran on several machines",

	match.OldComm:    "the communicator was made before all of its ranks were attached to",
	match.OldRequest: "the request was made, or the message taken, before the rank was attached to",
	match.NotYet:     "another rank was not attached to yet",
	match.NoOrder:    "the ranks were attached to at different moments, so it is not certain which calls belong together",
}

// Sentences tell the reader which calls were matched, and why others were not.
func (m *Matching) Sentences() (out []string) {
	if m == nil {
		return nil
	}
	for _, x := range []struct {
		noun, what string
		n          *match.Count
		apart      string // what each thread needs of its own
	}{
		{"message", " received", &m.Receives, "tag or communicator"}, {"message", " sent", &m.Sends, "tag or communicator"},
		{"probe", " for messages", &m.Probes, "tag or communicator"}, {"call", " of collective operations", &m.Collectives, "communicator"},
		{"wait", " for requests", &m.Requests, ""}, {"call", " that open or close epochs of RMA", &m.Epochs, ""},
		{"lock", " of RMA windows", &m.Locks, ""},
	} {
		if x.n.Calls == 0 {
			continue
		}
		s := fmt.Sprintf("Of %s%s, %d %s matched between ranks.", counted(x.n.Calls, x.noun), x.what, x.n.Matched, verb(x.n.Matched == 1, "was", "were"))
		for why, n := range x.n.Left {
			if n == 0 {
				continue
			}
			s += fmt.Sprintf(" %d %s not: %s.", n, verb(n == 1, "was", "were"), reasons[why])
			if why == int(match.Threads) && x.apart != "" {
				s += fmt.Sprintf(" If each thread used a %s of its own, these could be matched.", x.apart)
			}
		}
		out = append(out, s)
	}
	out = append(out, m.acrossMachines()...)
	out = append(out, m.pathSentences()...)
	for _, why := range slices.Sorted(maps.Keys(m.LeftOut)) {
		out = append(out, fmt.Sprintf("Waits for other ranks leave out %s: %s.", RankList(m.LeftOut[why]), why))
	}
	if len(m.Cut) > 0 {
		s := fmt.Sprintf("The MPI calls of %s are not known to the end: records were lost, a call returned an error, or the log was full.", RankList(m.Cut))
		if m.Left > 0 {
			s += fmt.Sprintf(" %s %s not in the log.", counted(m.Left, "call"), verb(m.Left == 1, "is", "are"))
		}
		out = append(out, s)
	}
	return out
}

// counted is a number of things: "1 call", "2 calls".
func counted[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
