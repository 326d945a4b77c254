package job

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"ompp-attach/efficiency"
	"ompp-attach/job/spread"
	"ompp-attach/job/strip"
	"ompp-attach/job/traffic"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// Job is a merged job.
type Job struct {
	Ranks   []Rank // the ranks that were read, by rising number
	Regions []*Region
	Size    int // size of MPI_COMM_WORLD; 0: no rank's profile states it
	// Paths are the call paths over all ranks; nil unless Options ask for them.
	Paths *Paths
	// Severity is the run's time by property, call path and thread; nil unless Options ask for it.
	Severity *severity.Cube
	// Waits says which MPI calls of ranks were matched; nil: their calls were not recorded, or
	// Options ask for neither Severity nor Path.
	Waits *Matching
	// Builds are the build ids of the files that hold code of regions, by the files' base names.
	Builds map[string]string

	// Strip tells what the ranks did over time; nil: no rank recorded it,
	// or Options do not ask for it.
	Strip *strip.Job
	// Traffic tells which ranks exchanged messages with which.
	Traffic *traffic.Job
	// Rivals are the processes that had cores while threads of ranks were ready to run (--sched).
	// The one that had cores for longest comes first.
	Rivals []Rival

	severity *severities
	strips   []*strip.Rank
	calls    []*rankCalls
	robbed   map[int][]profile.Rival // by rank

	binWidth int // number of ranks of a bin of Region.Bins
	troubles []trouble
	byKey    map[key]*Region
	seen     bitset // the ranks that were read
	launches launches
	traffic  map[int]*traffic.Rank // by rank, until all are known
}

// Edges returns how many ends of calls were derived on all ranks.
func (j *Job) Edges() (sum profile.Edges) {
	for i := range j.Ranks {
		sum.All += j.Ranks[i].Edges.All
		sum.Derived += j.Ranks[i].Edges.Derived
	}
	return sum
}

// Region is a region over all ranks.
type Region struct {
	// The embedded Region comes from the lowest rank that has the region.
	profile.Region
	// Reached is the number of ranks that executed the region.
	Reached int

	key        key
	from       int // the rank that the embedded Region comes from
	ranks      bitset
	moments    [NumFigures]spread.Moments
	products   [len(pairs)]spread.Joint
	withMPI    [2]spread.Joint    // WorkT and WaitT with the rank's communication
	efficiency efficiency.Figures // summed over ranks
	bytes      *calls
	sizes      profile.BySize
	counters   map[string]*spread.Moments
	bins       []bin
	n          int             // number of ranks of the job
	absent     int             // the lowest rank that did not execute the region
	mpiTime    *spread.Moments // communication of each rank, in any region
}

// pair names two figures of which it is counted how they vary together.
type pair struct{ x, y Figure }

// The pairs: each part of execT with execT, and the figures that work may vary with.
var pairs = [...]pair{
	{WorkT, ExecT}, {WaitT, ExecT}, {MPIT, ExecT}, {MgmtT, ExecT}, {NoCoreT, ExecT},
	{WorkT, ExecC}, {WorkT, BodyC}, {WorkT, BytesMinimal}, {WorkT, BytesNaive}, {WaitT, MPIT},
}

// newJob returns an empty job.
func newJob() *Job {
	return &Job{byKey: map[key]*Region{}, Builds: map[string]string{}, traffic: map[int]*traffic.Rank{}, robbed: map[int][]profile.Rival{}}
}

// merge adds a reduced rank to the job. It returns false if the rank is in the job already.
func (j *Job) merge(r *reduced) bool {
	if j.seen.has(r.rank.Rank) {
		return false
	}
	j.seen.set(r.rank.Rank)
	j.Ranks = append(j.Ranks, r.rank)
	j.traffic[r.rank.Rank], r.traffic.Number = r.traffic, r.rank.Rank
	if len(r.rivals) > 0 {
		j.robbed[r.rank.Rank] = r.rivals
	}
	j.Size = max(j.Size, r.rank.MPI.Size)
	maps.Copy(j.Builds, r.builds)
	for i := range r.parts {
		g := j.region(&r.parts[i], r.rank.Rank)
		g.add(&r.parts[i], &r.rank)
		if r.parts[i].reached {
			g.bin(&r.parts[i].figures, r.rank.Rank, j.binWidth)
		}
	}
	if j.Paths != nil {
		j.Paths.merge(r)
	}
	if j.severity != nil {
		j.severity.merge(r)
	}
	if r.strip != nil {
		j.strips = append(j.strips, r.strip)
	}
	if r.calls != nil {
		j.calls = append(j.calls, r.calls)
	}
	return true
}

func (j *Job) region(p *part, rank int) *Region {
	g := j.byKey[p.key]
	if g == nil {
		g = &Region{key: p.key, from: math.MaxInt}
		j.byKey[p.key] = g
		j.Regions = append(j.Regions, g)
	}
	if rank < g.from {
		lossy := g.Lossy
		g.from, g.Region = rank, *p.region
		// Of the notes, which are of one rank, only those on implicit barriers. Losses are of all.
		g.Notes, g.Lossy = p.region.NotesOnImplicit(), lossy
	}
	return g
}

func (g *Region) add(p *part, rank *Rank) {
	g.Lossy += p.region.Lossy
	g.efficiency.Add(&p.efficiency)
	if p.bytes != nil {
		own := *p.bytes
		g.bytes = g.bytes.with(&own)
	}
	g.sizes = g.sizes.Plus(p.sizes)
	if !p.reached {
		return
	}
	g.Reached++
	g.ranks.set(rank.Rank)
	for f, v := range p.figures {
		g.moments[f].Add(v, rank.Rank)
	}
	for i, pr := range pairs {
		g.products[i].Add(p.figures[pr.x], p.figures[pr.y])
	}
	for name, v := range p.counters {
		if g.counters == nil {
			g.counters = map[string]*spread.Moments{}
		}
		if g.counters[name] == nil {
			g.counters[name] = &spread.Moments{}
		}
		g.counters[name].Add(v, rank.Rank)
	}
	g.withMPI[0].Add(p.figures[WorkT], rank.Communication())
	g.withMPI[1].Add(p.figures[WaitT], rank.Communication())
}

// finish orders ranks and regions when all ranks have been added.
func (j *Job) finish() {
	slices.SortFunc(j.Ranks, func(a, b Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	late(j.Ranks)
	gone(j.Ranks)
	slices.SortFunc(j.Regions, func(a, b *Region) int { return a.key.compare(&b.key) })
	j.Strip, j.strips = strip.Join(j.strips), nil
	j.Rivals, j.robbed = j.rivals(), nil
	number := map[key]int{}
	mpiTime := j.rankMoments(rankCommunication)
	for i, g := range j.Regions {
		number[g.key] = i
		g.n = len(j.Ranks)
		g.absent = -1
		g.mpiTime = mpiTime
		for at := range j.Ranks {
			r := &j.Ranks[at]
			if g.ranks.has(r.Rank) {
				continue
			}
			if g.absent < 0 {
				g.absent = r.Rank
			}
			// The ranks that did not reach the region have no time in it, but they do communicate.
			for i := range g.withMPI {
				g.withMPI[i].Add(0, r.Communication())
			}
		}
	}
	if j.Paths != nil {
		j.Paths.finish(number)
	}
	if j.severity != nil {
		j.Severity = j.severity.finish(number, j.Regions)
	}
	var exchanged []*traffic.Rank
	for i := range j.Ranks {
		exchanged = append(exchanged, j.traffic[j.Ranks[i].Rank])
	}
	j.Traffic, j.traffic = traffic.Join(exchanged, j.Size), nil
}

// compare orders regions as the reports of single profiles do.
func (k *key) compare(o *key) int {
	return cmp.Or(cmp.Compare(k.file, o.file), cmp.Compare(k.begin, o.begin), cmp.Compare(k.construct, o.construct),
		cmp.Compare(k.object, o.object), cmp.Compare(k.offset, o.offset), cmp.Compare(k.name, o.name),
		cmp.Compare(k.fn, o.fn), cmp.Compare(k.end, o.end))
}

// Stats returns the distribution of a figure over the job's ranks.
func (g *Region) Stats(f Figure) spread.Stats { return g.moments[f].Over(g.n, g.absent) }

// share returns the share of execT's variance over ranks that goes with one of its Parts. The
// shares add up to 1. One share can exceed 1 if another part makes up for it. ok is false if execT
// does not vary.
func (g *Region) share(part Figure) (s float64, ok bool) {
	return spread.Share(g.n, g.product(part, ExecT), &g.moments[ExecT])
}

// correlate returns the correlation of two figures over ranks.
func (g *Region) correlate(x, y Figure) Correlation {
	return g.known(g.product(x, y), &g.moments[x], &g.moments[y])
}

func (g *Region) known(xy *spread.Joint, x, y *spread.Moments) Correlation {
	r, ok := spread.Correlation(g.n, xy, x, y)
	return Correlation{r, ok && g.n >= MinRanks}
}

func (g *Region) product(x, y Figure) *spread.Joint {
	return &g.products[slices.Index(pairs[:], pair{x, y})]
}

// CallBytes returns the bytes of the smallest and the largest call at an MPI call site. ok is false
// for other regions.
func (g *Region) CallBytes(by mpi.Accounting) (least, most uint64, ok bool) {
	if g.bytes == nil {
		return 0, 0, false
	}
	return g.bytes.min[by], g.bytes.max[by], true
}

// bitset is a set of ranks.
type bitset []uint64

func (s *bitset) set(i int) {
	for len(*s) <= i/64 {
		*s = append(*s, 0)
	}
	(*s)[i/64] |= 1 << (i % 64)
}

func (s bitset) has(i int) bool { return i/64 < len(s) && s[i/64]>>(i%64)&1 == 1 }
