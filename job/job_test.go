package job

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/job/spread"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// figuresOf returns all figures of a job in a form that can be compared.
func figuresOf(j *Job) any {
	type region struct {
		Key     key
		Reached int
		Stats   [NumFigures]spread.Stats
		Explain Explanation
		Counted []CounterStats
	}
	var regions []region
	for _, g := range j.Regions {
		r := region{Key: g.key, Reached: g.Reached, Explain: g.Explain(mpi.Minimal), Counted: g.Counters()}
		for f := range NumFigures {
			r.Stats[f] = g.Stats(f)
		}
		regions = append(regions, r)
	}
	var nodes []PathNode
	var samples []Sample
	if j.Paths != nil {
		nodes, samples = j.Paths.Nodes, j.Paths.Samples
	}
	return []any{j.Ranks, regions, j.Quantities(), j.Exchange(), nodes, samples, j.Troubles()}
}

// The order in which ranks are read is fixed. The last digits of a deviation depend on it.
var compareKeys = cmp.Options{cmp.AllowUnexported(key{}), cmpopts.EquateApprox(1e-12, 0), cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })}

// TestAnyOrder adds the ranks of a job in many orders. No figure may differ. Nor may paths differ
// that were summed up because there were too many.
func TestAnyOrder(t *testing.T) {
	base := recordedBase(t)
	const ranks = 30
	var all []*reduced
	for r := range ranks {
		p := replica(base, r, ranks+1)
		if r%7 == 3 { // such a rank has fewer regions
			profile.Hide(p, func(g *profile.Region) bool { return g.Location.Begin%3 == 0 })
		}
		all = append(all, reduce(p, FileName(r, 0), r, Options{Paths: true}))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, bound := range []int{maxSamples, 200, 20} {
		var want any
		for range 6 {
			j := newJob()
			j.Paths = newPaths(bound)
			for _, r := range all {
				copied := *r
				j.add(&copied, false)
			}
			j.finish()
			j.compareRanks()
			if bound < maxSamples && j.Paths.Level == ByRank {
				t.Fatalf("%d samples with a bound of %d", len(j.Paths.Samples), bound)
			}
			got := figuresOf(j)
			if want == nil {
				want = got
			}
			if d := cmp.Diff(want, got, compareKeys); d != "" {
				t.Fatalf("bound %d: another order gives another job (-first +this):\n%s", bound, d)
			}
			random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		}
	}
}

// excess returns by how much the overheads of threads in a region exceed their time there. Replicas
// vary each time by itself, so inner regions may last longer than those around them.
func excess(p *profile.Profile, b *analysis.Block) (over int64) {
	spent := spentIn(p)[b.Region]
	for _, row := range b.Rows {
		o := spent[row.Thread]
		over += max(0, o.wait()+o.mgmt+o.noCore+row.MPI.Plus(&profile.MPIStats{}).T-row.Exec.T)
	}
	return over
}

// TestOneRank: a job of one rank has the rank's own figures.
func TestOneRank(t *testing.T) {
	for _, p := range []*profile.Profile{replica(recordedBase(t), 0, 1), toy(0, 1, 70*ms, 70*ms)} {
		j := read(t, []Source{source(0, 0, encoded(t, p))}, Options{Paths: true})
		if len(j.Regions) != len(p.Regions) {
			t.Fatalf("%d regions of %d", len(j.Regions), len(p.Regions))
		}
		byKey := map[key]*Region{}
		for _, g := range j.Regions {
			byKey[g.key] = g
		}
		var overheads analysis.Classes
		costs := map[int]analysis.Cost{}
		for _, c := range analysis.Costs(p) {
			costs[c.Region] = c
			overheads.Add(c.Overhead)
		}
		for r, b := range analysis.Flat(p) {
			g := byKey[keyOf(&p.Regions[r])]
			var longest int64
			for _, row := range b.Rows {
				longest = max(longest, row.Exec.T)
			}
			for f, want := range map[Figure]int64{ExecT: b.Sum.Exec.T, ExecC: int64(b.Sum.Exec.C), BodyT: b.Sum.Body.T, BodyC: int64(b.Sum.Body.C),
				EnterT: b.Sum.Enter.T, BarrierT: b.Sum.Barrier.T, ExitT: b.Sum.Exit.T, WallT: longest,
				MPIT: b.Sum.MPI.Plus(&profile.MPIStats{}).T, MPIOver: costs[r].Overhead.MPI, Synch: costs[r].Overhead.Synch, Imbal: costs[r].Overhead.Imbal, Limpar: costs[r].Overhead.Limpar, Mgmt: costs[r].Overhead.Mgmt} {
				s := g.Stats(f)
				if s.Min != want || s.Max != want || s.Mean != float64(want) || s.StdDev != 0 || s.Sum.Int64() != want || s.MinRank != 0 || s.MaxRank != 0 {
					t.Errorf("%s of %+v: %+v, want %d", f, g.key, s, want)
				}
			}
			parts := int64(0)
			for _, f := range Parts {
				s := g.Stats(f)
				parts += s.Min
			}
			if s := g.Stats(ExecT); parts != s.Min+excess(p, &b) {
				t.Errorf("%+v: parts of execT add up to %d of %d", g.key, parts, s.Min)
			}
		}
		r := &j.Ranks[0]
		if r.Wall != p.Meta.Duration || r.ThreadTime != analysis.ThreadTime(p) || r.Parallel != analysis.ParallelCoverage(p).Wall ||
			r.Overheads != overheads || r.MPITime != analysis.Sum(&p.Nodes[0]).MPI.T {
			t.Errorf("rank %+v, overheads %+v", r, overheads)
		}
		if q := j.Quantities(); slices.ContainsFunc(q, func(q Quantity) bool { return q.Verdict != Alike }) {
			t.Errorf("a single rank differs from itself: %+v", q)
		}
	}
}

// TestToy: the paper's Fig. 9, whose figures follow from toy's arguments.
func TestToy(t *testing.T) {
	j := read(t, sources(t, toyJob(0, 40*ms, 100*ms, 20*ms)), Options{Paths: true})
	loop, call := j.Regions[1], j.Regions[3]
	if loop.Construct.String() != "LOOP" || call.Name != "MPI_Alltoall" {
		t.Fatalf("regions %v, %v", loop.key, call.key)
	}
	wait := loop.Stats(Imbal) // three threads wait for extra each
	if wait.Sum.Int64() != 3*160*ms || wait.Max != 300*ms || wait.MaxRank != 2 || wait.Min != 0 || wait.MinRank != 0 || wait.Mean != float64(120*ms) {
		t.Errorf("waiting: %+v", wait)
	}
	if want := 3 * float64(ms) * math.Sqrt((1600+0+3600+400)/4); math.Abs(wait.StdDev-want) > 1e-3 {
		t.Errorf("deviation %v, want %v", wait.StdDev, want)
	}
	if s := call.Stats(MPIT); s.Max != 110*ms || s.MaxRank != 0 || s.Min != 10*ms || s.MinRank != 2 {
		t.Errorf("MPI: %+v", s)
	}
	if s := call.Stats(Calls); s.Sum.Int64() != 20 || s.Min != 5 || s.Max != 5 {
		t.Errorf("calls: %+v", s)
	}
	if least, most, ok := call.CallBytes(mpi.Minimal); !ok || least != 1<<20 || most != 4<<20 {
		t.Errorf("bytes per call %d to %d", least, most)
	}
	for i, extra := range []int64{0, 40 * ms, 100 * ms, 20 * ms} {
		r := &j.Ranks[i]
		if r.MPITime != 110*ms-extra || r.Overheads.MPI != 110*ms-extra || r.Calls[OutMinimal] != 5<<20 || r.Calls[Colls] != 5 {
			t.Errorf("rank %d: %+v", r.Rank, r.Calls)
		}
	}
	x := j.Exchange()
	if !x.Trade || !x.Steady || !x.ImbalMPI.Known || x.ImbalMPI.R > -0.999 {
		t.Errorf("exchange %+v", x)
	}
	e := loop.Explain(mpi.Minimal)
	// The waiting of three threads varies with the work of one thread: three quarters and one
	// quarter.
	if !e.Varies || math.Abs(e.Shares[0]-0.25) > 1e-9 || math.Abs(e.Shares[1]-0.75) > 1e-9 || e.Reading != InWait {
		t.Errorf("explanation %+v", e)
	}
	// Between ranks, the work per thread varies by a quarter of extra: 25 ms at most, 10 ms in the
	// mean. Within a rank it varies by three quarters of extra: 30 ms in the mean.
	if e.Between != float64(15*ms) || e.Within != float64(30*ms) {
		t.Errorf("between %v, within %v", e.Between, e.Within)
	}
	if d := j.Differences(); d[0].Region != loop || d[0].By != ExecT || d[0].Verdict != Differ {
		t.Errorf("differs most: %+v", d[0])
	}
}

// The work of these jobs varies together with one figure or another. One thread of four calls MPI.
// A difference of 2% of the wall time holds up all threads, though it is only 0.5% of the thread
// time.
func TestOneThreadsMPI(t *testing.T) {
	j := read(t, sources(t, toyJob(0, 24*ms)), Options{})
	want := map[string]Verdict{"MPI": Alike, "MPI wall": Differ, "imbal": Alike}
	for _, q := range j.Quantities() {
		if v, ok := want[q.Name]; ok && q.Verdict != v {
			t.Errorf("%s: %v, want %v", q.Name, q.Verdict, v)
		}
		delete(want, q.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	for _, d := range j.Differences() {
		if c := d.Region.Construct; c == event.MPI && d.Verdict != Differ || c == event.Parallel && d.Verdict != Alike {
			t.Errorf("%v: %v", c, d.Verdict)
		}
	}
}

func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(rank int, s *profile.ThreadStats)
		want   Reading
	}{
		{"counts", func(rank int, s *profile.ThreadStats) { s.Exec.C = uint64(5 * (1 + rank)); s.Body.C = s.Exec.C }, ByCounts},
		{"volumes", func(rank int, s *profile.ThreadStats) {
			s.MPI = &profile.MPIStats{Calls: 1, Out: [2]uint64{uint64(1000 * (rank + 1)), 0}}
		}, ByVolume},
		{"loose", func(rank int, s *profile.ThreadStats) { s.Body.C = uint64(5 + 10*(rank%2)) }, Loose},
		{"time", func(int, *profile.ThreadStats) {}, TimeOnly},
		{"MPI", func(rank int, s *profile.ThreadStats) {
			s.MPI = &profile.MPIStats{T: int64(rank*rank) * 50 * ms, Calls: 1}
			s.Exec.T += s.MPI.T
			s.Body.T += s.MPI.T
		}, InMPI},
		{"waiting", func(rank int, s *profile.ThreadStats) {
			s.Barrier.T += int64(rank*rank) * 50 * ms
			s.Exec.T += int64(rank*rank) * 50 * ms
		}, InWait},
		{"trade", func(rank int, s *profile.ThreadStats) {
			s.Barrier.T = int64(rank) * 100 * ms
			s.MPI = &profile.MPIStats{T: int64(5-rank) * 100 * ms, Calls: 1}
			s.Exec.T += s.Barrier.T + s.MPI.T
			s.Body.T += s.MPI.T
		}, Trade},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ranks := toyJob(0, 0, 0, 0, 0, 0)
			for r, p := range ranks {
				for i := range p.Nodes[2].Stats {
					s := &p.Nodes[2].Stats[i]
					s.Exec.T += int64(r) * 10 * ms
					s.Body.T += int64(r) * 10 * ms
					tt.change(r, s)
				}
			}
			if got := read(t, sources(t, ranks), Options{}).Regions[1].Explain(mpi.Minimal).Reading; got != tt.want {
				t.Errorf("reading %q, want %q", got, tt.want)
			}
			if got := read(t, sources(t, ranks[:MinRanks-1]), Options{}).Regions[1].Explain(mpi.Minimal).WithExecs; got.Known {
				t.Errorf("correlation %v of %d ranks", got, MinRanks-1)
			}
		})
	}
}

// If two of five ranks have a region, it counts with 0 for the other three. The lowest of these
// three has the minimum.
func TestNotReached(t *testing.T) {
	ranks := toyJob(0, 0, 0, 0, 0)
	for _, r := range []int{1, 3, 4} {
		profile.Hide(ranks[r], func(g *profile.Region) bool { return g.Location.Begin == 24 })
	}
	j := read(t, sources(t, ranks), Options{})
	g := j.Regions[len(j.Regions)-1]
	s := g.Stats(ExecT)
	if g.Reached != 2 || s.Min != 0 || s.MinRank != 1 || s.Max != 30*ms || s.MaxRank != 0 || s.Mean != float64(12*ms) {
		t.Errorf("reached %d, %+v", g.Reached, s)
	}
	if want := float64(ms) * math.Sqrt(0.4*30*30-12*12); math.Abs(s.StdDev-want) > 1e-3 {
		t.Errorf("deviation %v, want %v", s.StdDev, want)
	}
}

// Some changes to a region make another region of the job, others do not.
func TestSameRegion(t *testing.T) {
	base := profile.Region{Construct: event.Critical, Name: "n", Location: profile.Location{File: "/a.c", Begin: 1, End: 2, Function: "f", Object: "/x/app", Offset: 16}}
	for _, tt := range []struct {
		name   string
		source bool // the places are known by file and line
		change func(*profile.Region)
		same   bool
	}{
		{"another address", true, func(r *profile.Region) { r.Location.Offset++ }, true},
		{"another line", true, func(r *profile.Region) { r.Location.Begin++ }, false},
		{"another end", true, func(r *profile.Region) { r.Location.End++ }, false},
		{"another function", true, func(r *profile.Region) { r.Location.Function = "g" }, false},
		{"another name", true, func(r *profile.Region) { r.Name = "m" }, false},
		{"another construct", true, func(r *profile.Region) { r.Construct = event.Lock }, false},
		{"another offset", false, func(r *profile.Region) { r.Location.Offset++ }, false},
		{"a copy of the program", false, func(r *profile.Region) { r.Location.Object = "/scratch/77/app" }, true},
		{"another program", false, func(r *profile.Region) { r.Location.Object = "/x/lib" }, false},
	} {
		a := base
		if !tt.source {
			a.Location.Begin, a.Location.End = 0, 0
		}
		b := a
		tt.change(&b)
		if (keyOf(&a) == keyOf(&b)) != tt.same {
			t.Errorf("%s: one region is %t", tt.name, !tt.same)
		}
	}
}

func TestTroubles(t *testing.T) {
	ranks := toyJob(0, 0, 0, 0, 0, 0, 0, 0)
	ranks[1].Meta.Program = "other"
	ranks[2].Meta.Start = ranks[2].Meta.Start.Add(3 * time.Hour)
	ranks[3].Meta.MPI = nil
	ranks[6].Meta.MPI.Rank = 5
	all := sources(t, ranks)
	whole := encoded(t, ranks[7])
	all = append(all, source(2, 1, whole[:len(whole)/2]), source(2, 2, whole[:len(whole)/3]))
	newer := strings.Replace(string(unzipped(t, whole)), `"version":1`, `"version":9`, 1)
	all[4] = source(4, 0, whole[:len(whole)/2])
	all[7] = source(7, 0, zipped(newer))
	all = append(all, source(0, 2, encoded(t, ranks[0])),
		Source{Name: FileName(9, 0), Rank: 9, Open: func() (io.ReadCloser, error) {
			return nil, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}
		}})
	j := read(t, all, Options{})
	if len(j.Ranks) != 5 { // 0, 1, 2, 3, 5
		t.Errorf("%d ranks", len(j.Ranks))
	}
	want := []string{
		"Rank 6 is missing: there is no recorded profile.",
		"Rank 4 could not be read: the recorded profile is truncated: its gzip data ends early.",
		"Rank 7 could not be read: the recorded profile was made by a newer ompp-attach: it has version 9, this program reads up to version 1.",
		"Rank 9 could not be read: permission denied.",
		"Rank 2 has a file that could not be read, and another that is shown: the recorded profile is truncated: its gzip data ends early.",
		"Ranks 0 and 5 (2) are recorded more than once; the first file by name counts, these are left out: profile.rank0-2.json.gz, profile.rank6.json.gz.",
		"Rank 5 has files that are named after another rank, the content counts: profile.rank6.json.gz.",
		"Rank 3 did not use MPI while measured; the rank is that of the file's name.",
		"The ranks differ in the program (ranks 0, 2-3 and 5 (4): toy; rank 1: other). Regions are compared by their place in the source, so ranks of different programs share few.",
		"Rank 0 had ended 3h0m0s before rank 2 was first measured. These may be files of several runs: their figures do not belong together.",
	}
	got := j.Troubles()
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNothingToRead(t *testing.T) {
	if _, err := Read(nil, Options{}); err == nil {
		t.Error("a job of no ranks")
	}
	_, err := Read([]Source{source(3, 0, []byte("no profile at all")), source(4, 0, nil)}, Options{})
	if !errors.Is(err, profile.ErrNotProfile) || !strings.Contains(err.Error(), "none of 2") || !strings.Contains(err.Error(), "profile.rank3") {
		t.Errorf("error %v", err)
	}
}

func TestRankList(t *testing.T) {
	for _, tt := range []struct {
		ranks []int
		want  string
	}{
		{nil, "no rank"}, {[]int{3}, "rank 3"}, {[]int{0, 1, 2}, "ranks 0-2 (3)"}, {[]int{0, 7}, "ranks 0 and 7 (2)"},
		{[]int{0, 1, 4, 6, 7}, "ranks 0-1, 4 and 6-7 (5)"},
		{[]int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}, "ranks 0, 2, 4, 6, 8, 10, 12, 14 and others (10)"},
	} {
		if got := RankList(tt.ranks); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.ranks, got, tt.want)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, s := range []string{"profile.rank0.json.gz", "profile.rank12-3.json.gz", "profile.rank007.json.gz", "profile.json.gz",
		"profile.rank99999999999999999999.json.gz", "profile.rank-1.json.gz", "profile.rank1.json.gz.orig", "xprofile.rank1.json.gz", "profile.rank1-0.json.gz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		rank, copy, ok := ParseName(name)
		if ok && (rank < 0 || rank >= maxRank || copy < 0 || FileName(rank, copy) != name) {
			t.Errorf("%q is rank %d, copy %d, whose name is %q", name, rank, copy, FileName(rank, copy))
		}
	})
}

func TestParseName(t *testing.T) {
	for name, want := range map[string][2]int{"profile.rank0.json.gz": {0, 0}, "profile.rank9999.json.gz": {9999, 0}, "profile.rank3-2.json.gz": {3, 2}} {
		rank, copy, ok := ParseName(name)
		if !ok || [2]int{rank, copy} != want {
			t.Errorf("%s: %d, %d, %t", name, rank, copy, ok)
		}
	}
	for _, name := range []string{"profile.json.gz", "profile.rank03.json.gz", "profile.rank3.pb.gz", "profile.rank3.pid7.json.gz", "profile.rank16777216.json.gz"} {
		if _, _, ok := ParseName(name); ok {
			t.Errorf("%s is a rank's", name)
		}
	}
}

func unzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}
