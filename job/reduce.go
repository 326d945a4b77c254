package job

import (
	"path"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/mpi"
)

// key says which regions of different ranks are one: those of one place in
// the source; without source, of one place in the object file, since the
// addresses at which files are loaded differ.
type key struct {
	construct      event.Construct
	name, file, fn string
	begin, end     int
	object         string // base name: nodes may have copies of their own
	offset         uint64
}

func keyOf(r *attribution.Region) key {
	l := &r.Location
	k := key{construct: r.Construct, name: r.Name, fn: l.Function}
	if l.File != "" && l.Begin > 0 {
		k.file, k.begin, k.end = l.File, l.Begin, l.End
	} else {
		k.object, k.offset = path.Base(l.Object), l.Offset
	}
	return k
}

// spent is where a thread's time in a region went, inner regions included.
type spent struct {
	wait, mgmt int64
	mpi        attribution.MPIStats
}

// calls are the bytes of an MPI call site's smallest and largest call.
type calls struct{ min, max [mpi.NumAccountings]uint64 }

// part is what one rank has of a region.
type part struct {
	key     key
	region  *attribution.Region
	figures Figures
	reached bool
	bytes   *calls // of MPI call sites
}

// reduced is all that is kept of a rank's profile: its own line, and its parts
// of the job's regions and paths.
type reduced struct {
	rank  Rank
	parts []part
	paths []pathPart
}

// reduce takes from a profile what the job needs of it.
func reduce(p *attribution.Profile, file string, rank int, withPaths bool) *reduced {
	out := &reduced{rank: rankOf(p, file, rank)}
	at := map[key]int{}
	number := make([]int, len(p.Regions)) // region to part
	for i := range p.Regions {
		k := keyOf(&p.Regions[i])
		n, ok := at[k]
		if !ok {
			n = len(out.parts)
			at[k] = n
			out.parts = append(out.parts, part{key: k, region: &p.Regions[i]})
		}
		number[i] = n
	}

	w := walkOf(p)
	for r, b := range analysis.Flat(p) {
		var f Figures
		f.ofBlock(&b, w.spent[r])
		to := &out.parts[number[r]]
		to.figures.add(&f)
		to.reached = to.reached || f[ExecC] > 0 || f[ExecT] > 0 || f[Calls] > 0
		if b := w.bytes[r]; b != nil {
			to.bytes = to.bytes.with(b)
		}
	}
	for i := 1; i < len(p.Nodes); i++ {
		f := &out.parts[number[p.Nodes[i].Region]].figures
		for _, c := range w.classes[i] {
			f.addClasses(c)
			out.rank.Overheads.Add(c)
		}
	}
	out.rank.addMPI(w.total(p))
	if withPaths {
		out.paths = pathsOf(p, number, w.classes)
	}
	return out
}

// walk is what one pass over a profile's tree yields.
type walk struct {
	classes [][]Classes      // by node and entry of its Stats
	spent   []map[int]*spent // by region and thread
	bytes   []*calls         // by region; of MPI call sites
	leaves  bool             // MPI calls are regions of their own
}

func walkOf(p *attribution.Profile) *walk {
	w := &walk{classes: make([][]Classes, len(p.Nodes)), spent: make([]map[int]*spent, len(p.Regions)), bytes: make([]*calls, len(p.Regions))}
	paths := analysis.NewPaths(p)
	inner := make([]map[int]spent, len(p.Nodes)) // by thread: in the node and below it
	for i := len(p.Nodes) - 1; i > 0; i-- {
		n := &p.Nodes[i]
		w.classes[i] = classify(p, i)
		if inner[i] == nil {
			inner[i] = map[int]spent{}
		}
		for j, s := range n.Stats {
			c, o := w.classes[i][j], inner[i][s.Thread]
			o.wait += c.Synch + c.Imbal + c.Limpar
			o.mgmt += c.Mgmt
			inner[i][s.Thread] = o
		}
		if inner[n.Parent] == nil {
			inner[n.Parent] = map[int]spent{}
		}
		up := inner[n.Parent]
		for thread, o := range inner[i] {
			// Of a team only its primary thread's time lies in what encloses it,
			// and only outside of other teams do the numbers say which that is.
			if paths.Team(i) == i && (p.Threads[thread].Num != 0 || paths.Team(n.Parent) >= 0) {
				continue
			}
			above := up[thread]
			above.wait += o.wait
			above.mgmt += o.mgmt
			up[thread] = above
		}
		w.take(p, i, inner[i], paths)
		inner[i] = nil
	}
	return w
}

// take adds a node to its region.
func (w *walk) take(p *attribution.Profile, i int, inner map[int]spent, paths analysis.Paths) {
	n := &p.Nodes[i]
	leaf := p.Regions[n.Region].Construct == event.MPI
	w.leaves = w.leaves || leaf
	for _, s := range n.Stats {
		if paths.Within(i, s.Thread) {
			continue
		}
		of := w.spent[n.Region]
		if of == nil {
			of = map[int]*spent{}
			w.spent[n.Region] = of
		}
		o := of[s.Thread]
		if o == nil {
			o = &spent{}
			of[s.Thread] = o
		}
		o.wait += inner[s.Thread].wait
		o.mgmt += inner[s.Thread].mgmt
		addMPI(&o.mpi, s.MPI)
		if leaf && s.MPI != nil && s.MPI.Calls > 0 {
			w.bytes[n.Region] = w.bytes[n.Region].with(&calls{s.MPI.Min, s.MPI.Max})
		}
	}
}

// with widens c, which may be nil, to b.
func (c *calls) with(b *calls) *calls {
	if c == nil {
		c := *b
		return &c
	}
	for a := range mpi.NumAccountings {
		c.min[a], c.max[a] = min(c.min[a], b.min[a]), max(c.max[a], b.max[a])
	}
	return c
}

func addMPI(to, from *attribution.MPIStats) {
	if from == nil {
		return
	}
	to.T += from.T
	to.Calls += from.Calls
	to.Sends += from.Sends
	to.Recvs += from.Recvs
	to.Colls += from.Colls
	for a := range mpi.NumAccountings {
		to.Out[a] += from.Out[a]
		to.In[a] += from.In[a]
	}
	to.Read += from.Read
	to.Written += from.Written
	to.Unknown += from.Unknown
}

// total is what all of the process's threads did in MPI: at its call sites or,
// where these were left out, in the regions that enclose the others.
func (w *walk) total(p *attribution.Profile) *attribution.MPIStats {
	var sum attribution.MPIStats
	for _, s := range p.Nodes[0].Stats {
		addMPI(&sum, s.MPI)
	}
	if sum.Calls > 0 {
		return &sum
	}
	for i := 1; i < len(p.Nodes); i++ {
		n := &p.Nodes[i]
		leaf := p.Regions[n.Region].Construct == event.MPI
		for _, s := range n.Stats {
			if leaf || !w.leaves && !covers(&p.Nodes[n.Parent], s.Thread) {
				addMPI(&sum, s.MPI)
			}
		}
	}
	return &sum
}

func covers(n *attribution.Node, thread int) bool {
	for _, s := range n.Stats {
		if s.Thread == thread && s.MPI != nil {
			return true
		}
	}
	return false
}

func rankOf(p *attribution.Profile, file string, rank int) Rank {
	m := &p.Meta
	r := Rank{Rank: rank, File: file, Host: m.Host, Program: m.Program, PID: m.PID, Start: m.Start,
		End: m.Start.Add(time.Duration(m.Duration)), Threads: len(p.Threads), Tool: m.Tool,
		Wall: m.Duration, User: m.UserTime, System: m.SysTime, ThreadTime: analysis.ThreadTime(p),
		Parallel: analysis.ParallelCoverage(p).Wall, LostHits: m.LostHits, Partial: m.Partial, Warnings: len(p.Warnings)}
	if m.MPI != nil {
		r.MPI = *m.MPI
		r.UsesMPI = true
	}
	return r
}
