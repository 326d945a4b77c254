package job

import (
	"cmp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// mostPartners bounds the partners that the job keeps of each rank: those with most bytes.
const mostPartners = 512

// traffic is whom a rank exchanged messages with, at all call sites.
type traffic struct {
	comms    rankComms
	partners []profile.Partner
	others   profile.Exchange // with partners that found no room, in the rank's profile or here
}

func trafficOf(p *profile.Profile, rank int) (t traffic) {
	t.comms = commsOf(p, rank)
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

// Link is what one rank exchanged with one partner, by the rank's own profile.
type Link struct {
	Rank    int // in MPI_COMM_WORLD
	Partner int // in MPI_COMM_WORLD; -1: not known
	// Comm is the communicator or window of a partner that is not known, and Local the partner's rank
	// there (mpi.AnySource: a receive from MPI_ANY_SOURCE).
	Comm  profile.Comm
	Local int32
	// Unheld: the communicator is beyond those that the job keeps of a rank. Comm says nothing.
	Unheld bool
	profile.Exchange
}

// Links returns who exchanged messages with whom: by rank, the partners that are known by their
// ranks, then the others.
func (j *Job) Links() []Link { return j.links }

// Others returns what was exchanged with partners beyond those that the job keeps of each rank.
func (j *Job) Others() profile.Exchange { return j.others }

// WorldRank translates a rank in a communicator, by its index in the profile's Comms, to one in
// MPI_COMM_WORLD. at is the index in Ranks of the rank whose profile that is. ok is false if it is
// not known.
func (j *Job) WorldRank(at, comm int, rank int32) (world int, ok bool) {
	return j.groups.worldRank(&j.traffic[j.Ranks[at].Rank].comms, comm, rank)
}

// link finds out who the partners are, when ranks are in order.
func (j *Job) link() {
	var all []*rankComms
	for i := range j.Ranks {
		all = append(all, &j.traffic[j.Ranks[i].Rank].comms)
	}
	j.groups = groupsOf(all, len(j.Ranks) == j.Size)
	for i := range j.Ranks {
		rank := j.Ranks[i].Rank
		own := j.traffic[rank]
		j.others.Add(own.others)
		byRank := map[int]*Link{}
		var unknown []Link
		for _, p := range own.partners {
			world, ok := j.WorldRank(i, p.Comm, p.Rank)
			switch {
			case !ok:
				l := Link{Rank: rank, Partner: -1, Local: p.Rank, Unheld: p.Comm >= mostComms && p.Comm != own.comms.unseen, Exchange: p.Exchange}
				if p.Comm < len(own.comms.list) {
					l.Comm = own.comms.list[p.Comm]
				}
				unknown = append(unknown, l)
			case byRank[world] == nil:
				byRank[world] = &Link{Rank: rank, Partner: world, Exchange: p.Exchange}
			default:
				byRank[world].Exchange.Add(p.Exchange)
			}
		}
		first := len(j.links)
		for _, l := range byRank {
			j.links = append(j.links, *l)
		}
		slices.SortFunc(j.links[first:], func(a, b Link) int { return cmp.Compare(a.Partner, b.Partner) })
		j.links = append(j.links, unknown...)
		own.partners = nil
	}
}

// Sizes returns the messages at an MPI call site by size.
func (g *Region) Sizes() profile.BySize { return g.sizes }

// MostCells bounds the bins of ranks that a Matrix has in either direction.
const MostCells = 128

// Matrix is what ranks sent to ranks, as the senders' profiles tell. Messages to partners that are
// not known are in none of its cells.
type Matrix struct {
	Width, Bins int    // number of neighbouring ranks in a bin, and of bins
	Cells       []Cell // that are not empty, by From, then by To
}

// Cell is what the ranks of one bin sent to those of another.
type Cell struct {
	From, To        int // bins
	Messages, Bytes uint64
}

// Matrix returns who sent how much to whom.
func (j *Job) Matrix() Matrix {
	ranks := j.Size
	for _, l := range j.links {
		ranks = max(ranks, l.Rank+1, l.Partner+1)
	}
	m := Matrix{Width: max(1, (ranks+MostCells-1)/MostCells)}
	m.Bins = (ranks + m.Width - 1) / m.Width
	at := map[[2]int]*Cell{}
	for _, l := range j.links {
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

// TrafficAtLeast reports whether figures of pairs and receivers are lower bounds: messages went to
// receivers whose ranks are not known, or ranks of the job were not read.
func (j *Job) TrafficAtLeast() bool { return j.SentToUnknown() || len(j.Missing()) > 0 }

// SentToUnknown reports whether messages went to receivers whose ranks are not known.
func (j *Job) SentToUnknown() bool {
	return j.others.Sends > 0 || slices.ContainsFunc(j.links, func(l Link) bool { return l.Partner < 0 && l.Sends > 0 })
}

// Heaviest returns at most n pairs of ranks of which one sent most bytes to the other, the heaviest
// first, and the number of all such pairs. Both tell of ranks that were read and of known
// receivers only (see TrafficAtLeast).
func (j *Job) Heaviest(n int) (links []Link, all int) {
	for _, l := range j.links {
		if l.Partner >= 0 && l.Sends > 0 {
			links = append(links, l)
		}
	}
	slices.SortStableFunc(links, func(a, b Link) int { return cmp.Or(cmp.Compare(b.Out, a.Out), cmp.Compare(b.Sends, a.Sends)) })
	return links[:min(n, len(links))], len(links)
}

// Receivers returns to how many other ranks the ranks sent, as far as the receivers are known (see
// TrafficAtLeast).
func (j *Job) Receivers() Stats {
	to := map[int]int64{}
	for _, l := range j.links {
		if l.Partner >= 0 && l.Partner != l.Rank && l.Sends > 0 {
			to[l.Rank]++
		}
	}
	return j.RankStats(func(r *Rank) int64 { return to[r.Rank] })
}

// Sizes returns the messages at all call sites by size.
func (j *Job) Sizes() (all profile.BySize) {
	for _, g := range j.Regions {
		all = all.Plus(g.sizes)
	}
	return all
}
