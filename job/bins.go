package job

// MostBins bounds the values that the job keeps of a region over the ranks. In a job of at most
// MostBins ranks, each rank has a bin.
const MostBins = 256

// BinFigures are the figures of a bin: the whole time of a region, and the parts of this time.
var BinFigures = [...]Figure{ExecT, WorkT, SynchT, ImbalT, LimparT, MgmtT, MPIT, NoCoreT}

// bin sums a region's figures over neighbouring ranks that reached the region.
type bin struct {
	reached int
	sums    [len(BinFigures)]int64
	// The extremes of the region's whole time, over the bin's ranks.
	min, max int64
}

// Bin holds a region's figures of neighbouring ranks. A rank that did not reach the region has 0.
// Times are in ns.
type Bin struct {
	First int // the lowest rank
	Ranks int // number of ranks that were read; 0: nothing is known
	Sums  [len(BinFigures)]int64
	// The extremes of the region's whole time, over the bin's ranks.
	Min, Max int64
}

func (g *Region) bin(f *Figures, rank, width int) {
	if width < 1 {
		return
	}
	at := rank / width
	for len(g.bins) <= at {
		g.bins = append(g.bins, bin{})
	}
	b := &g.bins[at]
	for i, figure := range BinFigures {
		b.sums[i] += f[figure]
	}
	whole := f[BinFigures[0]]
	if b.reached == 0 {
		b.min, b.max = whole, whole
	}
	b.reached++
	b.min, b.max = min(b.min, whole), max(b.max, whole)
}

// BinWidth returns the number of neighbouring ranks that share a bin.
func (j *Job) BinWidth() int { return max(1, j.binWidth) }

// Bins returns the region's figures over the ranks, in bins of BinWidth ranks.
func (j *Job) Bins(g *Region) []Bin {
	width := j.BinWidth()
	if len(j.Ranks) == 0 {
		return nil
	}
	out := make([]Bin, j.Ranks[len(j.Ranks)-1].Rank/width+1)
	for i := range out {
		out[i].First = i * width
	}
	for i := range j.Ranks {
		out[j.Ranks[i].Rank/width].Ranks++
	}
	for i := range g.bins {
		b, o := &g.bins[i], &out[i]
		o.Sums, o.Min, o.Max = b.sums, b.min, b.max
		if b.reached < o.Ranks {
			o.Min, o.Max = min(o.Min, 0), max(o.Max, 0)
		}
	}
	return out
}
