// Package comms finds out which ranks of a job are in which communicator.
//
// For each communicator of a rank, the profile has the parent, the process's rank in the
// communicator, and the operation that made it. All processes of the parent had to call these
// operations in the same order. So a communicator gets the same name from all profiles. Its members
// are the world ranks of the profiles that have it. Nothing is guessed: if members contradict each
// other, the communicator is unknown.
package comms

import (
	"fmt"
	"slices"

	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Most bounds the communicators that the job keeps of each rank.
const Most = 128

// Rank holds a rank's communicators.
type Rank struct {
	List []profile.Comm // of the rank's profile, 128 at most
	// Names are the names of List; empty: the communicator has none. Join fills them in. Names is
	// nil if the rank's profile may lack communicators.
	Names   []string
	JobSize int // the size of MPI_COMM_WORLD; 0: not known
	Host    string
	sure    bool // all operations that made communicators were seen
	world   int  // the rank in MPI_COMM_WORLD
	hasMPI  bool // the process is a rank, as its profile says
	unseen  int  // index of the entry for all communicators with unseen makings; 0: none
	shift   int  // number of makings on MPI_COMM_WORLD before the first one seen
}

// Of returns the communicators of a rank's profile.
func Of(p *profile.Profile, rank int) Rank {
	m := &p.Meta
	c := Rank{List: p.Comms[:min(len(p.Comms), Most)], Host: m.Host, world: rank}
	if m.MPI != nil {
		c.hasMPI, c.JobSize = m.MPI.Rank == rank, m.MPI.Size
	}
	c.unseen = max(0, slices.IndexFunc(p.Comms, func(c profile.Comm) bool { return c.Several && !c.NoRoom }))
	c.sure = c.hasMPI && !m.Attached && m.LostHits == 0 && m.Off.C == 0
	return c
}

// IsWindow reports whether an index in List is that of an RMA window. Windows stand among the
// communicators.
func (r *Rank) IsWindow(comm int) bool { return comm > 0 && made{r, comm}.how().Window }

// Unheld reports whether the job does not keep this communicator of the rank's profile, because it
// is beyond the bound (Most).
func (r *Rank) Unheld(comm int) bool { return comm >= Most && comm != r.unseen }

// SeenFrom notes that the rank was attached to, and that all of its calls since then are known.
// makings is the number of operations on MPI_COMM_WORLD that had made communicators and windows
// before.
func (c *Rank) SeenFrom(makings int) { c.sure, c.shift = c.hasMPI, makings }

// group is a communicator with the world ranks of its members, as far as profiles tell.
type group struct {
	size    int32
	members map[int32]int
	doubted bool
}

func (g *group) add(size, rank int32, world int) {
	if at, known := g.members[rank]; known && at != world || size != g.size || rank < 0 || rank >= size {
		g.doubted = true
	}
	g.members[rank] = world
}

// Groups are a job's communicators by name.
type Groups map[string]*group

// Join finds out who is in which communicator, and names the ranks' communicators. complete says
// that all ranks of the job were read.
func Join(ranks []*Rank, complete bool) Groups {
	all := Groups{}
	byDepth := [][]made{}
	for _, r := range ranks {
		if complete = complete && r.sure; !r.sure {
			continue
		}
		r.Names = make([]string, len(r.List))
		depths := make([]int, len(r.List))
		for i := range r.List {
			if up := r.List[i].Parent; up >= 0 {
				depths[i] = depths[up] + 1
			}
			for len(byDepth) <= depths[i] {
				byDepth = append(byDepth, nil)
			}
			byDepth[depths[i]] = append(byDepth[depths[i]], made{r, i})
		}
	}
	for _, level := range byDepth {
		cuts := map[string]cut{}
		for _, c := range level {
			if name := c.name(complete); name != "" {
				c.rank.Names[c.at] = name
				if c.how().Kinship == mpi.Cut {
					cuts[name] = append(cuts[name], c)
				}
			}
		}
		for _, list := range cuts {
			list.divide()
		}
		for _, c := range level {
			if name := c.rank.Names[c.at]; c.at > 0 && name != "" && c.comm().Size > 0 {
				all.add(name, c.comm(), c.rank.world)
			}
		}
	}
	for _, g := range all {
		// Several communicators may get such a name, since it follows from properties that their
		// members share. So all members must be there.
		g.doubted = g.doubted || complete && len(g.members) != int(g.size)
	}
	return all
}

func (gs Groups) add(name string, c *profile.Comm, world int) {
	g := gs[name]
	if g == nil {
		g = &group{size: c.Size, members: map[int32]int{}}
		gs[name] = g
	}
	g.add(c.Size, c.Rank, world)
}

// Known reports whether the members of a communicator are known as far as profiles tell, and do not
// contradict each other.
func (gs Groups) Known(name string) bool { return gs[name] != nil && !gs[name].doubted }

// made is a communicator of a rank.
type made struct {
	rank *Rank
	at   int // index in rank.List
}

func (c made) comm() *profile.Comm { return &c.rank.List[c.at] }

func (c made) how() (m mpi.Maker) {
	if by := c.comm().By; by != nil {
		m, _ = by.Info().Makes()
	}
	return m
}

// name returns the communicator's name, or "" if its members would not all find the same name.
func (c made) name(complete bool) string {
	comm, how := c.comm(), c.how()
	if c.at == 0 {
		return "world"
	}
	if comm.By == nil || comm.Parent < 0 || comm.Order == 0 || comm.Inter || comm.Size == 0 && !how.Window {
		return ""
	}
	up := c.rank.Names[comm.Parent]
	if up == "" {
		return ""
	}
	order := comm.Order
	if comm.Parent == 0 {
		order += c.rank.shift
	}
	name := fmt.Sprintf("%s/%d", up, order)
	switch how.Kinship {
	case mpi.Copied, mpi.Reordered:
		return name
	case mpi.Split:
		return fmt.Sprintf("%s:%d", name, comm.Decides)
	case mpi.Near:
		name = fmt.Sprintf("%s@%s", name, c.rank.Host)
	case mpi.Together:
		name = fmt.Sprintf("%s#%d", name, comm.Size)
	case mpi.Cut:
	default:
		return ""
	}
	if !complete {
		return ""
	}
	return name
}

// parent returns the size of the communicator's parent, and the process's rank there.
func (c made) parent() (size, rank int) {
	if up := c.comm().Parent; up > 0 {
		return int(c.rank.List[up].Size), int(c.rank.List[up].Rank)
	}
	return c.rank.JobSize, c.rank.world
}

// WorldRank translates a rank in a communicator to a rank in MPI_COMM_WORLD. comm is the
// communicator's index in r's profile. ok is false if the rank is not known.
func (gs Groups) WorldRank(r *Rank, comm int, rank int32) (world int, ok bool) {
	for rank >= 0 && comm >= 0 && comm < len(r.List) {
		c := &r.List[comm]
		switch {
		case comm == 0:
			return int(rank), r.hasMPI
		case c.Size == 1 && !c.Inter:
			return r.world, r.hasMPI
		case !c.AsParent():
			if !r.sure || !gs.Known(r.Names[comm]) {
				return 0, false
			}
			world, ok = gs[r.Names[comm]].members[rank]
			return world, ok
		}
		comm = c.Parent
	}
	return 0, false
}

// cut holds the communicators, of all ranks, that one call of MPI_Cart_sub has made.
type cut []made

// divide gives each communicator of a call of MPI_Cart_sub a name of its own. Ranks are in
// row-major order, both in the grid (MPI-3.1, 7.4) and in the parts that MPI_Cart_sub makes of it.
// If the kept dimensions are neighbours, rank p of the grid becomes rank (p / step) % size of its
// part. This must hold for all ranks. Otherwise the communicators stay unknown.
func (list cut) divide() {
	step := list.step()
	size := int(list[0].comm().Size)
	for _, c := range list {
		_, p := c.parent()
		if all, _ := c.parent(); step == 0 || all != len(list) || int(c.comm().Size) != size || int(c.comm().Rank) != p/step%size {
			for _, c := range list {
				c.rank.Names[c.at] = ""
			}
			return
		}
	}
	for _, c := range list {
		_, p := c.parent()
		c.rank.Names[c.at] += fmt.Sprintf(":%d,%d", p/(step*size), p%step)
	}
}

// step returns the lowest rank of the grid that has rank 1 in its part; 0: there is none.
func (list cut) step() (step int) {
	if list[0].comm().Size == 1 {
		return 1
	}
	for _, c := range list {
		if _, p := c.parent(); c.comm().Rank == 1 && (step == 0 || p < step) {
			step = p
		}
	}
	return step
}
