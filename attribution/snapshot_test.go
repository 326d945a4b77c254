package attribution

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// recording is what an engine is fed in a test.
type recording struct {
	begin  func() *Engine
	events []event.Event
	end    uint64
	files  Resolver
	whole  bool // nothing is missing
}

// recordings are all that the engine's tests have: made up and recorded.
func recordings(t *testing.T, each func(name string, r recording)) {
	t.Helper()
	for _, tc := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases, pauseCases) {
		end := tc.end
		if end == 0 {
			end = 1000
		}
		each(tc.name, recording{func() *Engine { return New(1, fakeFiles{}) }, parse(t, tc.events), end, fakeFiles{}, false})
	}
	for seed := range tries(uint64(40)) {
		rt := event.Gomp
		if seed%2 == 1 {
			rt = event.Kmpc
		}
		s := simulate(rand.New(rand.NewPCG(seed, uint64(rt))), rt, 30+int(seed)*5)
		begin := func() *Engine { return New(1, fakeFiles{}) }
		if seed%5 == 0 {
			begin = func() *Engine {
				e := New(1, fakeFiles{})
				e.Existing([]int{1, 2, 3, 4, 5, 6, 7}, 500)
				return e
			}
		}
		each(fmt.Sprintf("seed %d", seed), recording{begin, s.events, s.now + 10, fakeFiles{}, seed%5 != 0})
	}
	files, err := filepath.Glob("../testdata/streams/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := stream.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		// The events were read ring by ring.
		slices.SortStableFunc(s.Events, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
		each(filepath.Base(name), recording{func() *Engine { return begin(s) }, s.Events, s.End, s, len(s.Existing) == 0})
	}
}

// A measurement gives the same whether snapshots are taken or not. A snapshot counts nothing that
// the measurement does not. A copy goes on as its original does.
func TestSnapshots(t *testing.T) {
	taken := 0
	recordings(t, func(name string, r recording) {
		every := max(1, len(r.events)/tries(40))
		feed := func(e *Engine, from int, after func(at int)) *profile.Profile {
			for i := from; i < len(r.events); i++ {
				e.Feed(&r.events[i])
				if i%7 == 0 {
					e.Advance(r.events[i].Time)
				}
				after(i)
			}
			return e.Finish(r.end)
		}
		want := feed(r.begin(), 0, func(int) {})
		var shots []*profile.Profile
		e := r.begin()
		got := feed(e, 0, func(i int) {
			if i%every != 0 {
				return
			}
			p, _ := e.Copy(r.files).Snapshot(r.events[i].Time)
			if err := profile.Validate(p); err != nil {
				t.Fatalf("%s, snapshot after event %d: %v", name, i, err)
			}
			shots = append(shots, p)
			if len(shots)%8 == 0 {
				c := e.Copy(r.files)
				if d := gocmp.Diff(want, feed(c, i+1, func(int) {})); d != "" {
					t.Fatalf("%s: a copy after event %d goes on differently: -engine +copy\n%s", name, i, d)
				}
			}
		})
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("%s: -without +with snapshots\n%s", name, d)
		}
		taken += len(shots)
		if !r.whole {
			return
		}
		all := executed(want)
		for i, p := range shots {
			for region, n := range executed(p) {
				if n.C > all[region].C {
					t.Errorf("%s, snapshot %d: %s executed %d times, in the end %d", name, i, region, n.C, all[region].C)
				}
				if n.T > all[region].T {
					t.Errorf("%s, snapshot %d: %s took %d ns, in the end %d", name, i, region, n.T, all[region].T)
				}
			}
			for _, reg := range p.Regions {
				for _, note := range reg.Notes {
					if strings.Contains(note, "lost") && !slices.ContainsFunc(want.Regions, func(r profile.Region) bool { return slices.Contains(r.Notes, note) }) {
						t.Errorf("%s, snapshot %d: a note on what is just not read yet: %s", name, i, note)
					}
				}
			}
		}
	})
	if taken < tries(1000) {
		t.Errorf("only %d snapshots taken", taken)
	}
}

// executed sums up a profile's executions by region.
func executed(p *profile.Profile) map[string]profile.Sum {
	out := map[string]profile.Sum{}
	for _, n := range p.Nodes[1:] {
		r := p.Regions[n.Region]
		for _, s := range n.Stats {
			key := fmt.Sprintf("%s@%d", r.Construct, r.Location.Begin)
			// Only later events tell the construct on the left from the one on the right.
			for _, later := range [][2]string{{"UTASK", "TASK"}, {"PARALLEL LOOP", "PARALLEL"}, {"PARALLEL SECTIONS", "PARALLEL"}} {
				key = strings.Replace(key, later[0], later[1], 1)
			}
			sum := out[key]
			sum.Add(s.Exec)
			out[key] = sum
		}
	}
	return out
}

// Threads are read in any order: what others have yet to tell is not counted.
func TestSnapshotsOfMixedThreads(t *testing.T) {
	for seed := range tries(uint64(60)) {
		rt := event.Gomp
		if seed%2 == 1 {
			rt = event.Kmpc
		}
		rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
		s := simulate(rnd, rt, 30+rnd.IntN(200))
		mixed := mix(rnd, s.events)
		e := New(1, fakeFiles{})
		var shots []*profile.Profile
		for i := range mixed {
			e.Feed(&mixed[i])
			if i%20 == 0 {
				p, _ := e.Copy(fakeFiles{}).Snapshot(mixed[i].Time)
				shots = append(shots, p)
			}
		}
		p := e.Finish(s.now + 10)
		if d := gocmp.Diff(s.want, measured(p)); d != "" {
			t.Fatalf("seed %d: -model +engine\n%s", seed, d)
		}
		all := executed(p)
		for i, p := range shots {
			for region, n := range executed(p) {
				if n.C > all[region].C {
					t.Errorf("seed %d, snapshot %d: %s executed %d times, in the end %d", seed, i, region, n.C, all[region].C)
				}
			}
		}
	}
}

// Streams of no sense end with the same profile, too.
func TestSnapshotsOfSenselessStreams(t *testing.T) {
	t.Parallel()
	for seed := range tries(uint64(1500)) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, 4*(1+r.IntN(60)))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		want := feedBytes(b)
		got := feedBytesTo(b, func(e *Engine, at uint64) {
			p, _ := e.Copy(fakeFiles{}).Snapshot(at)
			if err := profile.Validate(p); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		})
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: -without +with snapshots\n%s", seed, d)
		}
	}
}
