package perfetto

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// nest makes up a region of a thread, with regions inside, told children first. The second counter
// is a clock, the first one counts 7 in each region. inside is what the counters counted.
func nest(rnd *rand.Rand, tid uint32, from, to uint64, out *[]timeline.Span) (inside [2]int64) {
	for at := from; len(*out) < 200; {
		at += rnd.Uint64N(to - from)
		end := at + 1 + rnd.Uint64N(to-from)
		if end > to || to-from < 8 {
			break
		}
		c := nest(rnd, tid, at, end, out)
		inside[0], inside[1] = inside[0]+c[0], inside[1]+c[1]
		at = end
	}
	s := ran(1, from, to)
	all := [2]int64{inside[0] + 7, int64(to - from)}
	s.TID, s.Counts = tid, &profile.Counts{All: all[:], Child: []int64{inside[0], inside[1]}}
	*out = append(*out, s)
	return all
}

// tracks returns the values of a trace by counter: begin and value.
func tracks(t *testing.T, f *timeline.File) map[string][][2]float64 {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, []*timeline.File{f}, func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	out := map[string][][2]float64{}
	for _, line := range readTrace(t, b.Bytes()).values {
		i := strings.LastIndex(line, ": ")
		var v [2]float64
		for k, text := range strings.Fields(line[i+2:]) {
			v[k], _ = strconv.ParseFloat(text, 64)
		}
		out[line[:i]] = append(out[line[:i]], v)
	}
	return out
}

// integral adds up a track's values over time.
func integral(track [][2]float64) (sum float64) {
	for i := range track[1:] {
		sum += track[i][1] * (track[i+1][0] - track[i][0])
	}
	return sum
}

// TestRates: a counter that is a clock advances by a second per second for each thread that is in a
// region, at any moment. What another counter counts is there once, however regions nest.
func TestRates(t *testing.T) {
	for _, unit := range []uint64{1, 7919} { // bins of a ns, and of some us
		for seed := range uint64(20) {
			rnd := rand.New(rand.NewPCG(seed, unit))
			var spans []timeline.Span
			in := newWorking(2000, 2000+1000*unit)
			for tid := range uint32(3) {
				for from := uint64(2000); ; {
					from += rnd.Uint64N(100 * unit)
					to := from + 1 + rnd.Uint64N(400*unit)
					if to > 2000+1000*unit {
						break
					}
					nest(rnd, 5+tid, from, to, &spans)
					in.add(from, to)
					from = to
				}
			}
			regions := len(spans)
			whole := ran(1, 2000, 2000+1000*unit) // the range; without counters
			whole.TID = 99
			got := tracks(t, recorded(t, append(spans, whole)...))
			for name, track := range got {
				switch {
				case strings.HasPrefix(name, "clock, ns: per second"):
					i := 0
					for bin, ns := range in.bins {
						for i+1 < len(track) && track[i+1][0] <= float64(in.from+uint64(bin)*in.width+500) {
							i++
						}
						if want := float64(ns) / float64(in.width) * 1e9; math.Abs(track[i][1]-want) > 1 {
							t.Fatalf("seed %d, bin %d of %d ns: %v ns/s, want %v", seed, bin, in.width, track[i][1], want)
						}
					}
				case strings.HasPrefix(name, "faults: per second"):
					if sum := integral(track) / 1e9; math.Abs(sum-float64(7*regions)) > 1e-6*sum {
						t.Errorf("seed %d: %v are shown of %d", seed, sum, 7*regions)
					}
				case !strings.HasPrefix(name, "threads at work"):
					t.Errorf("a track %q", name)
				}
			}
			if len(got) != 3 {
				t.Errorf("%d tracks", len(got))
			}
		}
	}
}

// A sum of executions lies within a region; what both counted is shown once. A worker's barrier is
// not counted, so that its counts lie in its body.
func TestRatesOfParts(t *testing.T) {
	region, fold := ran(1, 2000, 2400), ran(4, 2100, 2200)
	region.Counts = &profile.Counts{All: []int64{50, 0}, Child: []int64{10, 0}}
	fold.Kind, fold.Exec.C, fold.Counts = timeline.Fold, 9, &profile.Counts{All: []int64{10, 0}}
	worker := ran(1, 2500, 2900)
	worker.Team, worker.Thread, worker.Counts = 1, 1, &profile.Counts{All: []int64{100, 0}}
	worker.Parts = [timeline.NumParts]profile.Sum{{T: 100, C: 1}, {T: 100, C: 1}, {T: 150, C: 1}, {T: 50, C: 1}}
	got := tracks(t, recorded(t, fold, region, worker))
	want := fmt.Sprint([][2]float64{{2500, 1e8}, {2600, 2e8}, {2700, 1e8}, {2900, 0}, {3100, 1e9}, {3200, 0}, {3400, 0}})
	if s := fmt.Sprint(got["faults: per second, in regions (means of 1ns)"]); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// The loop of a combined construct is no slice, and its counts are those of the region around.
func TestRatesOfCombined(t *testing.T) {
	region, loop := ran(1, 2000, 2400), ran(2, 2100, 2300)
	region.Counts = &profile.Counts{All: []int64{100, 0}, Child: []int64{60, 0}}
	loop.Counts = &profile.Counts{All: []int64{60, 0}}
	rec := recording(t, counters)
	rec.Span(&loop)
	rec.Span(&region)
	rec.End(&timeline.Dictionary{
		Regions: []profile.Region{{}}, Nodes: []timeline.Node{{Parent: -1, Region: -1}, {Region: 0}}, Threads: []profile.Thread{{Num: 0}},
		NodeOf: []int32{0, 1, 1}, SeatOf: []int32{0}, Within: []int32{2},
	})
	var b bytes.Buffer
	if err := rec.Save(&b); err != nil {
		t.Fatal(err)
	}
	f := read(t, b.Bytes())
	want := fmt.Sprint([][2]float64{{2000, 2e8}, {2100, 3e8}, {2300, 2e8}, {2400, 0}})
	if s := fmt.Sprint(tracks(t, f)["faults: per second, in regions (means of 1ns)"]); s != want {
		t.Errorf("%s, want %s", s, want)
	}
	b.Reset()
	if _, err := Write(&b, []*timeline.File{f}, nil); err != nil {
		t.Fatal(err)
	}
	if lines := decode(t, b.Bytes()); len(lines) != 2 || strings.Contains(lines[0], "without") {
		t.Errorf("%q", lines)
	}
}
