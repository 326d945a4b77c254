package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// stormLines finds, in phases.c, the line that each phase's comment stands on.
func stormLines(t *testing.T) map[string][]int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "programs", "phases.c"))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string][]int{}
	for n, l := range strings.Split(string(b), "\n") {
		if m := regexp.MustCompile(`// (first|storm|settle|last)$`).FindStringSubmatch(l); m != nil {
			lines[m[1]] = append(lines[m[1]], n+1)
		}
	}
	return lines
}

// phaseFigures adds up the executions of a construct of one phase: in all, those
// of them that were extrapolated, and the standard error.
func phaseFigures(p *profile.Profile, c event.Construct, lines []int) (all, guessed uint64, sigma float64) {
	for _, n := range p.Nodes {
		if n.Region < 0 || p.Regions[n.Region].Construct != c {
			continue
		}
		l := p.Regions[n.Region].Location
		within := false
		for _, line := range lines {
			within = within || l.Begin <= line && line <= max(l.Begin+1, l.End)
		}
		if !within {
			continue
		}
		for _, s := range n.Stats {
			all += s.Exec.C
			if s.Estimate != nil {
				guessed += s.Estimate.Exec.C
				sigma += s.Estimate.CountError
			}
		}
	}
	return all, guessed, sigma
}

// worstWindow is the largest share of a thread's time that its hits took, by
// their calibrated costs, in any window of a stream.
func worstWindow(s *stream.Stream, window uint64) (worst float64) {
	type hit struct {
		at uint64
		ns int64
	}
	recent := map[uint32][]hit{}
	sums := map[uint32]int64{}
	for _, ev := range s.Events {
		ns := s.Costs.Kinds[ev.Probe].Sum() * int64(1+ev.Lost)
		q := append(recent[ev.TID], hit{ev.Time, ns})
		sums[ev.TID] += ns
		for q[0].at+window < ev.Time {
			sums[ev.TID] -= q[0].ns
			q = q[1:]
		}
		recent[ev.TID] = q
		worst = max(worst, float64(sums[ev.TID])/float64(window))
	}
	return worst
}

// On most machines a hit takes at most usualCost (ns).
const usualCost = 1000

// meanCost is the mean calibrated cost of a stream's hits (ns).
func meanCost(s *stream.Stream) (mean float64) {
	for _, ev := range s.Events {
		mean += float64(s.Costs.Kinds[ev.Probe].Sum()) / float64(len(s.Events))
	}
	return mean
}

// A storm between quiet phases stays within the budget over any time. What was not observed is
// extrapolated within its error. What was quiet is exact.
func TestBudget(t *testing.T) {
	const budget, threads, seconds = 0.05, 2, 10
	lines := stormLines(t)
	for _, tc := range []struct {
		build
		kind      string
		construct event.Construct
		steps     int
	}{
		{build{"gcc", "-O2 -g"}, "lock", event.Lock, 10000},
		{build{"clang-19", "-O2 -g"}, "lock", event.Lock, 20000},
	} {
		t.Run(tc.kind+" "+tc.compiler, func(t *testing.T) {
			bin := testbin.Build(t, "phases.c", tc.options())
			steps := tc.steps
			// The storm goes as fast as the machine lets it.
			timed(t, func() func(time.Duration) []string {
				events := filepath.Join(t.TempDir(), "events")
				s := clean(t, options{env: threadsEnv(threads), flags: []string{"--max-overhead", fmt.Sprint(budget), "--record-events", events, "--sample", "off"}},
					bin, tc.kind, strconv.Itoa(steps), "0.5", "6", "3")
				p := s.main
				truth := map[string]uint64{}
				for _, l := range strings.Split(strings.TrimSpace(s.stdout), "\n") {
					f := strings.Fields(l)
					for _, n := range f[1:] {
						v, err := strconv.ParseUint(n, 10, 64)
						if err != nil {
							t.Fatalf("the program printed %q", l)
						}
						truth[f[0]] += v
					}
				}
				if p.Meta.Unmatched != 0 {
					t.Errorf("%d ends without a beginning", p.Meta.Unmatched)
				}
				b := p.Meta.Budget
				if b == nil || b.Share != budget || b.Worst == 0 {
					t.Fatalf("budget %+v", b)
				}
				// The tool takes probes away when it sees the cost of hits. Where the tool has no
				// processor, the program goes on to pay for that time.
				paid := func(late time.Duration) (wrong []string) {
					if most := budget + late.Seconds()/seconds; b.Worst > most {
						wrong = append(wrong, fmt.Sprintf("budget %+v", b))
					}
					return wrong
				}
				if len(p.Meta.Observations) == 0 {
					return func(late time.Duration) []string {
						if late > time.Duration(p.Meta.Duration)/4 { // for want of processors
							return paid(late)
						}
						return append(paid(late), "all was observed: no storm")
					}
				}
				f, err := os.Open(events)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				recorded, err := stream.Decode(f)
				if err != nil {
					t.Fatal(err)
				}
				// Where probes take more than half of the time, nothing is extrapolated. On some
				// virtual machines a hit takes ten times as long: the next attempt has more work
				// between two hits.
				steps = max(steps, int(float64(tc.steps)*meanCost(recorded)/usualCost))
				// The run is no longer than one window of the budget's.
				worst := worstWindow(recorded, seconds*1e9)
				var quiet []string
				for _, phase := range []string{"first", "last"} {
					all, guessed, _ := phaseFigures(p, event.Critical, lines[phase])
					switch {
					case guessed != 0:
						// Probes were away in a part of the phase. They must stay in one attempt.
						quiet = append(quiet, fmt.Sprintf("%s: %d criticals (%d extrapolated), want %d", phase, all, guessed, truth[phase]))
					case all != truth[phase]:
						t.Errorf("%s: %d criticals, want %d", phase, all, truth[phase])
					}
				}
				all, guessed, sigma := phaseFigures(p, tc.construct, lines["storm"])
				want := float64(truth["storm"])
				off := math.Abs(float64(all) - want)
				t.Logf("%d, %d of them extrapolated +- %.0f; it were %.0f: off by %.1f %%, %.1f sigma; worst %.2f %%",
					all, guessed, sigma, want, 100*off/want, off/sigma, 100*p.Meta.Budget.Worst)
				if got := attribution.Replay(recorded); got.Meta.Unmatched != 0 || executionsIn(got) != executionsIn(p) {
					t.Errorf("replayed: %d executions, unmatched %d, want %d", executionsIn(got), got.Meta.Unmatched, executionsIn(p))
				}
				return func(late time.Duration) (wrong []string) {
					if wrong = append(paid(late), quiet...); worst > budget+late.Seconds()/seconds {
						wrong = append(wrong, fmt.Sprintf("%.2f %% of a thread's time went into probes", 100*worst))
					}
					// A storm that gets few cores is observed too seldom to be extrapolated.
					if guessed == 0 && late <= time.Duration(p.Meta.Duration)/4 {
						wrong = append(wrong, "nothing of the storm was extrapolated")
					}
					if off > max(3*sigma, want/10) {
						wrong = append(wrong, fmt.Sprintf("%d executions in the storm (standard error %.0f), want %.0f", all, sigma, want))
					}
					if sigma > 0.5*want {
						wrong = append(wrong, fmt.Sprintf("a standard error of %.0f of %.0f says nothing", sigma, want))
					}
					return wrong
				}
			})
		})
	}
}

// executionsIn is how many executions a profile tells of that were observed.
func executionsIn(p *profile.Profile) (n uint64) {
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Stats {
			n += s.Exec.C
			if s.Estimate != nil {
				n -= s.Estimate.Exec.C
			}
		}
	}
	return n
}
