// Package traffic finds out which ranks of a job exchanged messages with which, and how much.
package traffic

import (
	"cmp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/job/comms"
	"ompp-attach/profile"
)

// mostPartners is how many partners the job keeps of each rank: those with most bytes.
const mostPartners = 512

// Rank says with whom a rank exchanged messages, at all call sites together.
type Rank struct {
	Number   int // of the rank in the job
	comms    comms.Rank
	partners []profile.Partner
	others   profile.Exchange // with partners without room, in the rank's profile or here
}

// Of returns the traffic of a profile's process.
func Of(p *profile.Profile, rank int) *Rank {
	t := &Rank{Number: rank, comms: comms.Of(p, rank)}
	type place struct {
		comm int
		rank int32
	}
	sums := map[place]*profile.Exchange{}
	for i := range p.Nodes {
		if r := p.Nodes[i].Region; r < 0 || p.Regions[r].Construct != event.MPI {
			continue
		}
		for k := range p.Nodes[i].Stats {
			own := p.Nodes[i].Stats[k].Traffic
			if own == nil {
				continue
			}
			for _, x := range own.Partners {
				at := place{x.Comm, x.Rank}
				if sums[at] == nil {
					sums[at] = &profile.Exchange{}
				}
				sums[at].Add(x.Exchange)
			}
			t.others.Add(own.Others)
		}
	}
	for at, x := range sums {
		t.partners = append(t.partners, profile.Partner{Comm: at.comm, Rank: at.rank, Exchange: *x})
	}
	slices.SortFunc(t.partners, func(a, b profile.Partner) int {
		return cmp.Or(cmp.Compare(b.Out+b.In, a.Out+a.In), cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Rank, b.Rank))
	})
	for len(t.partners) > mostPartners {
		last := len(t.partners) - 1
		t.others.Add(t.partners[last].Exchange)
		t.partners = t.partners[:last]
	}
	return t
}

// Link is the exchange of one rank with one partner, by the rank's own profile.
type Link struct {
	Rank    int // in MPI_COMM_WORLD
	Partner int // in MPI_COMM_WORLD; -1: not known
	// Comm and Local describe a partner that is not known: its communicator or window, and its rank
	// there (mpi.AnySource: a receive from MPI_ANY_SOURCE).
	Comm  profile.Comm
	Local int32
	// Unheld: the communicator is beyond those that the job keeps of a rank. Comm says nothing.
	Unheld bool
	profile.Exchange
}

// Job is the traffic of a job.
type Job struct {
	// Links say who exchanged messages with whom. They are sorted by rank. For each rank, known
	// partners come first, by their ranks.
	Links []Link
	// Others is the exchange with partners beyond those that the job keeps for each rank.
	Others profile.Exchange

	size   int // of MPI_COMM_WORLD; 0: not known
	groups comms.Groups
	ranks  []*Rank
}

// Join finds out who the partners of ranks are. ranks are the ranks of the job that were read, by
// rising number. size is the size of MPI_COMM_WORLD; 0: not known.
func Join(ranks []*Rank, size int) *Job {
	var all []*comms.Rank
	for _, r := range ranks {
		all = append(all, &r.comms)
	}
	j := &Job{size: size, groups: comms.Join(all, len(ranks) == size), ranks: ranks}
	for at, r := range ranks {
		j.link(at)
		j.Others.Add(r.others)
		r.partners = nil
	}
	return j
}

// WorldRank translates a rank in a communicator to one in MPI_COMM_WORLD. comm is the
// communicator's index in the profile's Comms. at is the index of the profile's rank among the
// ranks that were read. ok is false if the rank is not known.
func (j *Job) WorldRank(at, comm int, rank int32) (world int, ok bool) {
	return j.groups.WorldRank(&j.ranks[at].comms, comm, rank)
}

// link adds the links of a rank.
func (j *Job) link(at int) {
	own := j.ranks[at]
	byRank := map[int]*Link{}
	var unknown []Link
	for _, p := range own.partners {
		world, ok := j.WorldRank(at, p.Comm, p.Rank)
		switch {
		case !ok:
			l := Link{Rank: own.Number, Partner: -1, Local: p.Rank, Unheld: own.comms.Unheld(p.Comm), Exchange: p.Exchange}
			if p.Comm < len(own.comms.List) {
				l.Comm = own.comms.List[p.Comm]
			}
			unknown = append(unknown, l)
		case byRank[world] == nil:
			byRank[world] = &Link{Rank: own.Number, Partner: world, Exchange: p.Exchange}
		default:
			byRank[world].Exchange.Add(p.Exchange)
		}
	}
	first := len(j.Links)
	for _, l := range byRank {
		j.Links = append(j.Links, *l)
	}
	slices.SortFunc(j.Links[first:], func(a, b Link) int { return cmp.Compare(a.Partner, b.Partner) })
	j.Links = append(j.Links, unknown...)
}

// MostCells bounds the bins of ranks in each direction of a Matrix.
const MostCells = 128

// Matrix is what ranks sent to ranks, by the senders' profiles. Messages to unknown partners are in
// no cell.
type Matrix struct {
	Width, Bins int    // number of neighbouring ranks in a bin, and of bins
	Cells       []Cell // the cells that are not empty, by From, then by To
}

// Cell is what the ranks of one bin sent to those of another.
type Cell struct {
	From, To        int // bins
	Messages, Bytes uint64
}

// Matrix returns who sent how much to whom.
func (j *Job) Matrix() Matrix {
	ranks := j.size
	for _, l := range j.Links {
		ranks = max(ranks, l.Rank+1, l.Partner+1)
	}
	m := Matrix{Width: max(1, (ranks+MostCells-1)/MostCells)}
	m.Bins = (ranks + m.Width - 1) / m.Width
	at := map[[2]int]*Cell{}
	for _, l := range j.Links {
		if l.Partner < 0 || l.Sends == 0 {
			continue
		}
		k := [2]int{l.Rank / m.Width, l.Partner / m.Width}
		if at[k] == nil {
			at[k] = &Cell{From: k[0], To: k[1]}
		}
		at[k].Messages += l.Sends
		at[k].Bytes += l.Out
	}
	for _, c := range at {
		m.Cells = append(m.Cells, *c)
	}
	slices.SortFunc(m.Cells, func(a, b Cell) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return m
}

// SentToUnknown reports whether messages went to receivers whose ranks are not known.
func (j *Job) SentToUnknown() bool {
	return j.Others.Sends > 0 || slices.ContainsFunc(j.Links, func(l Link) bool { return l.Partner < 0 && l.Sends > 0 })
}

// Heaviest returns the n pairs of sender and receiver with most bytes, the heaviest first, and the
// number of all pairs. A pair has a sender with a profile that was read, and a known receiver.
func (j *Job) Heaviest(n int) (links []Link, all int) {
	for _, l := range j.Links {
		if l.Partner >= 0 && l.Sends > 0 {
			links = append(links, l)
		}
	}
	slices.SortStableFunc(links, func(a, b Link) int { return cmp.Or(cmp.Compare(b.Out, a.Out), cmp.Compare(b.Sends, a.Sends)) })
	return links[:min(n, len(links))], len(links)
}

// Receivers returns, by rank, to how many other ranks the rank sent. It counts known receivers
// only.
func (j *Job) Receivers() map[int]int64 {
	to := map[int]int64{}
	for _, l := range j.Links {
		if l.Partner >= 0 && l.Partner != l.Rank && l.Sends > 0 {
			to[l.Rank]++
		}
	}
	return to
}
