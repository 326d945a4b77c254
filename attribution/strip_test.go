package attribution

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// stateTimes returns how long each thread was in each state, ns, by a strip. slack is how much the
// rounding of shares may change a sum.
func stateTimes(s *profile.Strip) (out map[int]map[profile.State]float64, slack float64) {
	out = map[int]map[profile.State]float64{}
	for i := range s.Rows {
		r := &s.Rows[i]
		of := map[profile.State]float64{}
		for state := range r.States {
			for bin := range s.Bins {
				of[state] += r.Share(state, bin) * float64(s.Width)
			}
		}
		out[r.Thread] = of
	}
	return out, float64(s.Bins) * float64(s.Width) / profile.WholeBin / 2
}

// TestStripSums: the states of each thread add up to the profile's times, however long the program
// runs: regions with a barrier in the middle.
func TestStripSums(t *testing.T) {
	for _, regions := range []int{1, 20, 400, max(10_000, tries(20_000))} {
		p := &frequent{rnd: rand.New(rand.NewPCG(3, 3)), threads: 3}
		p.run(regions, 0)
		got := replayAsRead(p.events, p.end())
		if got.Strip == nil || got.Strip.Bins > 2048 {
			t.Fatalf("%d regions: %+v", regions, got.Strip)
		}
		want := map[int]map[profile.State]int64{}
		for _, n := range got.Nodes[1:] {
			for i := range n.Stats {
				s := &n.Stats[i]
				if want[s.Thread] == nil {
					want[s.Thread] = map[profile.State]int64{}
				}
				w := want[s.Thread]
				if got.Regions[n.Region].Construct == event.Barrier {
					w[profile.StateBarrier] += s.Exec.T
					w[profile.StateWork] -= s.Exec.T
					continue
				}
				w[profile.StateWork] += s.Body.T
				w[profile.StateBarrier] += s.Barrier.T
				w[profile.StateRuntime] += s.Enter.T + s.Exit.T
			}
		}
		times, slack := stateTimes(got.Strip)
		if len(times) != p.threads {
			t.Errorf("%d regions: %d threads", regions, len(times))
		}
		for thread, states := range want {
			for state, w := range states {
				// Of many short executions a few stand for all.
				if d, most := times[thread][state]-float64(w), slack+float64(w)*float64(min(regions/10_000, 1))/50; d > most || d < -most {
					t.Errorf("%d regions, thread %d, %s: %.0f ns, want %d (±%.0f)", regions, thread, state, times[thread][state], w, slack)
				}
			}
		}
	}
}

// TestStripOfModel: whatever a program does, no bin holds more than its width.
func TestStripOfModel(t *testing.T) {
	for seed := range tries(uint64(200)) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		s := simulate(rnd, []event.Runtime{event.Gomp, event.Kmpc}[seed%2], 30+rnd.IntN(300))
		p := replay(s.events, s.now+10)
		if p.Strip == nil {
			continue
		}
		if err := profile.Validate(p); err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Strip.Rows {
			for bin := range p.Strip.Bins {
				sum := 0.0
				for state := range r.States {
					sum += r.Share(state, bin)
				}
				if most := 1 + 5.0/profile.WholeBin; sum > most {
					t.Fatalf("seed %d: bin %d of thread %d is filled %.3f times", seed, bin, r.TID, sum)
				}
			}
		}
	}
}

// TestStripStates: what a thread does is in the bins of its time.
func TestStripStates(t *testing.T) {
	const bin = 1 << 18
	at := func(n float64) uint64 { return uint64(1000 + n*bin) }
	put := func(n float64, c event.Construct, e event.Edge, more event.Event) event.Event {
		more.Time, more.PID, more.TID, more.Construct, more.Edge, more.Runtime, more.SP = at(n), 1, 1, c, e, event.Gomp, 0x7000
		return more
	}
	events := []event.Event{
		put(0, event.Parallel, event.Fork, event.Event{Fn: 300, Key: 7, Size: 1, Site: 90}),
		put(1, event.Parallel, event.Begin, event.Event{Key: 7}),
		put(3, event.Critical, event.Enter, event.Event{Site: 400}),
		put(5, event.Critical, event.Acquired, event.Event{}),
		put(7, event.Critical, event.Release, event.Event{}),
		put(8, event.Critical, event.Released, event.Event{}),
		put(9, event.Barrier, event.Wait, event.Event{Site: 500}),
		put(12, event.Barrier, event.Waited, event.Event{}),
		put(14, event.Parallel, event.End, event.Event{}),
		put(15, event.Parallel, event.Join, event.Event{}),
		put(17, event.UserRegion, event.Off, event.Event{}),
		put(19, event.UserRegion, event.On, event.Event{}),
	}
	p := replay(events, at(20))
	const want = "RWWLLWWRWBBBWWR....."
	got := make([]byte, p.Strip.Bins)
	letters := map[profile.State]byte{profile.StateRuntime: 'R', profile.StateWork: 'W', profile.StateLock: 'L', profile.StateBarrier: 'B'}
	for i := range got {
		got[i] = '.'
		for state, letter := range letters {
			switch share := p.Strip.Rows[0].Share(state, i); {
			case share == 1:
				got[i] = letter
			case share != 0:
				t.Errorf("bin %d: %s has %f", i, state, share)
			}
		}
		if off := p.Strip.OffShare(i); (off == 1) != (i == 17 || i == 18) {
			t.Errorf("bin %d is off for %f", i, off)
		}
	}
	if string(got) != want || p.Strip.Width != bin || p.Strip.Rows[0].TID != 1 || p.Strip.Rows[0].Thread != 0 {
		t.Errorf("%s, want %s: %+v", got, want, p.Strip)
	}
}

// BenchmarkStrip: by how much the strip makes the engine slower: processor time, the median of
// ratios of pairs in turns.
func BenchmarkStrip(b *testing.B) {
	for _, s := range streams {
		b.Run(s.name, func(b *testing.B) {
			with, without := newPlayer(s.period), newPlayer(s.period)
			without.engine.in.Strip.Full = true
			took := func(p *player) float64 {
				began := processorTime(b)
				for range 1 + 200_000/len(s.period) {
					p.play()
				}
				return float64(processorTime(b) - began)
			}
			for range 20 { // all is new once
				took(with)
				took(without)
			}
			var ratios []float64
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					ratios = append(ratios, took(with)/took(without))
				} else {
					ratios = append(ratios, 1/(took(without)/took(with)))
				}
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "with/without")
		})
	}
}
