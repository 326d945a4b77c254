package job

import (
	"path"

	"ompp-attach/analysis"
	"ompp-attach/efficiency"
	"ompp-attach/event"
	"ompp-attach/job/strip"
	"ompp-attach/job/traffic"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// key says which regions of different ranks are the same region of the job. They have the same
// construct at the same place in the source. Without source, the place is an offset in the object
// file, because ranks may load the file at different addresses.
type key struct {
	construct      event.Construct
	name, file, fn string
	begin, end     int
	object         string // base name: each node may have its own copy of the file
	offset         uint64
}

func keyOf(r *profile.Region) key {
	l := &r.Location
	k := key{construct: r.Construct, name: r.Name, fn: l.Function}
	if l.File != "" && l.Begin > 0 {
		k.file, k.begin, k.end = l.File, l.Begin, l.End
	} else {
		k.object, k.offset = path.Base(l.Object), l.Offset
	}
	return k
}

// spent is the time of a thread in a region by class, with inner regions, in ns.
type spent struct{ synch, imbal, limpar, mgmt, noCore int64 }

func (s spent) wait() int64 { return s.synch + s.imbal + s.limpar }

// calls are the bytes of the smallest and the largest call at an MPI call site.
type calls struct{ min, max [mpi.NumAccountings]uint64 }

// part is one rank's part in a region of the job.
type part struct {
	key     key
	region  *profile.Region
	figures Figures
	reached bool
	bytes   *calls         // for MPI call sites only
	sizes   profile.BySize // of messages; for MPI call sites only

	efficiency efficiency.Figures
	// counters are the counters that are known of all executions.
	counters map[string]int64
}

// reduced is all that the job keeps of a rank's profile: the rank's own line, and its parts in the
// job's regions and paths.
type reduced struct {
	rank    Rank
	traffic *traffic.Rank
	parts   []part
	paths   []pathPart
	cube    *severity.Cube    // nil unless asked for
	number  []int             // index of the part, by region of the profile
	calls   *rankCalls        // nil: there are none, or Options ask for neither Severity nor Path
	strip   *strip.Rank       // nil: there is none, or Options do not ask for it
	rivals  []profile.Rival   // of the profile, with times
	builds  map[string]string // base name of a file to its build id
}

// reduce extracts the data that the job needs from a profile. It may change p.
func reduce(p *profile.Profile, file string, rank int, o Options) *reduced {
	o.waits.apply(p, rank)
	if !o.Raw {
		p = analysis.Adjust(p)
	}
	ends := analysis.MPIStartEnd(p) // before Hide, which removes the regions of these calls
	process, efficiencies := efficiencyOf(p)
	exchanged := traffic.Of(p, rank)
	if o.Classic {
		profile.HideCalls(p)
	}
	out := &reduced{rank: rankOf(p, file, rank), traffic: exchanged, builds: map[string]string{}}
	out.rank.Hot, out.rank.Efficiency = hotIn(p), process
	for i := range p.Objects {
		out.builds[path.Base(p.Objects[i].Path)] = p.Objects[i].BuildID
	}
	number := out.addRegions(p, efficiencies)
	out.addFigures(p, number)
	classes := out.addOverheads(p, number, o.Rules)
	out.rank.Calls.addMPI(analysis.Sum(&p.Nodes[0]).MPI)
	out.rank.RankMPI = mpiTimesOf(&p.Nodes[0], &ends)
	for _, r := range p.Rivals {
		if r.T > 0 {
			out.rivals = append(out.rivals, r)
		}
	}
	if o.Strip {
		out.strip = strip.Of(p, rank)
	}
	if o.Paths {
		out.paths = pathsOf(p, number, classes)
	}
	if o.Severity != nil {
		out.number, out.cube = number, severity.Of(p, *o.Severity)
		out.cube.Processes[0].Rank = out.rank.Rank
	}
	if (o.Severity != nil || o.Path) && o.waits == nil {
		out.calls = callsOf(p, rank)
	}
	return out
}

// addRegions makes a part for each of the job's regions that the profile has. It returns the part
// of each region of the profile.
func (out *reduced) addRegions(p *profile.Profile, efficiencies map[key]*efficiency.Figures) (number []int) {
	at := map[key]int{}
	number = make([]int, len(p.Regions))
	for i := range p.Regions {
		k := keyOf(&p.Regions[i])
		n, ok := at[k]
		if !ok {
			n = len(out.parts)
			at[k] = n
			out.parts = append(out.parts, part{key: k, region: &p.Regions[i], efficiency: *efficiencies[k]})
		}
		number[i] = n
	}
	return number
}

// addFigures adds the figures of the profile's regions to the parts.
func (out *reduced) addFigures(p *profile.Profile, number []int) {
	spent := spentIn(p)
	for r, b := range analysis.Flat(p) {
		var f Figures
		f.ofBlock(&b, spent[r])
		to := &out.parts[number[r]]
		to.figures.add(&f)
		if reached := f[ExecC] > 0 || f[ExecT] > 0 || f[Sized] > 0; reached {
			to.addCounters(countersOf(p, &b))
			to.reached = true
		}
		if m := b.Sum.MPI; m != nil && m.Sized > 0 && to.key.construct == event.MPI {
			to.bytes = to.bytes.with(&calls{m.Min, m.Max})
		}
		if x := b.Sum.Traffic; x != nil {
			to.sizes = to.sizes.Plus(x.BySize)
		}
	}
}

// addOverheads adds the overheads of the profile's nodes to the parts and to the rank. The rest of
// the time is the rank's work. It returns the overheads of each node, by thread.
func (out *reduced) addOverheads(p *profile.Profile, number []int, rules analysis.Rules) [][]analysis.Classes {
	classes := make([][]analysis.Classes, len(p.Nodes))
	var outside int64
	for i := range p.Nodes {
		classes[i] = rules.Classify(p, i)
		for _, c := range classes[i] {
			out.rank.Overheads.Add(c)
			if i == 0 {
				outside += c.Sum()
			} else {
				out.parts[number[p.Nodes[i].Region]].figures.addClasses(c)
			}
		}
	}
	out.rank.SerialWork = max(0, out.rank.Serial-outside)
	out.rank.Work = ownTime(p) - (out.rank.Overheads.Sum() - outside)
	return classes
}

// spentIn returns the waiting and management time by region and thread. It uses the rules Disjoint,
// because parts of a whole must not overlap.
func spentIn(p *profile.Profile) []map[int]spent {
	out := make([]map[int]spent, len(p.Regions))
	paths := analysis.NewPaths(p)
	// By node and thread: time in the node and below it.
	inner := make([]map[int]spent, len(p.Nodes))
	for i := range inner {
		inner[i] = map[int]spent{}
	}
	for i := len(p.Nodes) - 1; i > 0; i-- {
		n := &p.Nodes[i]
		for j, c := range analysis.Classify(p, i) {
			thread := n.Stats[j].Thread
			inner[i][thread] = inner[i][thread].plus(spent{c.Synch, c.Imbal, c.Limpar, c.Mgmt, c.NoCore})
		}
		for thread, o := range inner[i] {
			// Only the time of a team's primary thread lies in the region around the team. Thread
			// numbers tell which thread that is, unless there is another team around.
			if paths.Team(i) == i && (p.Threads[thread].Num != 0 || paths.Team(n.Parent) >= 0) {
				continue
			}
			inner[n.Parent][thread] = inner[n.Parent][thread].plus(o)
		}
		for _, s := range n.Stats {
			if paths.Within(i, s.Thread) {
				continue
			}
			if out[n.Region] == nil {
				out[n.Region] = map[int]spent{}
			}
			out[n.Region][s.Thread] = out[n.Region][s.Thread].plus(inner[i][s.Thread])
		}
		inner[i] = nil
	}
	return out
}

func (s spent) plus(o spent) spent {
	return spent{s.synch + o.synch, s.imbal + o.imbal, s.limpar + o.limpar, s.mgmt + o.mgmt, s.noCore + o.noCore}
}

// with returns c, extended by b. c may be nil.
func (c *calls) with(b *calls) *calls {
	if c == nil {
		return b
	}
	for a := range mpi.NumAccountings {
		c.min[a], c.max[a] = min(c.min[a], b.min[a]), max(c.max[a], b.max[a])
	}
	return c
}

// ownTime is the time of all threads in regions.
func ownTime(p *profile.Profile) (t int64) {
	for i := 1; i < len(p.Nodes); i++ {
		for k := range p.Nodes[i].Stats {
			t += p.Nodes[i].Stats[k].Exec.T - p.Nodes[i].Stats[k].Child
		}
	}
	return t
}
