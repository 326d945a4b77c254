package attribution

import (
	"fmt"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/synthetic"
	"ompp-attach/profile"
)

// machinePlayer feeds a made-up program's periods to an engine as the rings would be read. One ring
// comes after the other, each as far as it goes.
type machinePlayer struct {
	engine *Engine
	period *synthetic.Period
	played int
	calls  uint64 // of MPI, besides
	begin  uint64
}

func newMachinePlayer(m synthetic.Machine) *machinePlayer {
	return &machinePlayer{engine: New(synthetic.Process, nowhere{}), period: m.Period(), begin: 1e9}
}

func (p *machinePlayer) play() {
	tids := p.period.TIDs(p.played)
	for _, ring := range p.period.Rings {
		for i := range ring {
			ev := p.period.Nth(&ring[i], tids, p.begin)
			p.engine.Feed(&ev)
		}
	}
	p.played++
	p.begin += p.period.Length + 2*clockSlack
	p.engine.Advance(p.begin)
}

// check compares the executions that the profile has with those that were made
// up.
func (p *machinePlayer) check(t *testing.T) *profile.Profile {
	t.Helper()
	prof := p.engine.Finish(p.begin)
	got := map[event.Construct]uint64{}
	for _, n := range prof.Nodes[1:] {
		for _, s := range n.Stats {
			if c := prof.Regions[n.Region].Construct; c != event.MPI {
				got[c] += s.Exec.C
			} else if s.Exec.C != p.calls {
				t.Errorf("%d calls, want %d", s.Exec.C, p.calls)
			}
		}
	}
	for c, n := range p.period.Counts {
		if want := n * uint64(p.played); got[c] != want {
			t.Errorf("%s: %d executions, want %d", c, got[c], want)
		}
	}
	if len(got) != len(p.period.Counts) {
		t.Errorf("constructs %v, want %v", got, p.period.Counts)
	}
	if m := prof.Meta; m.Unmatched+m.Partial+m.LostHits > 0 || m.Hits != uint64(p.played*p.period.Events)+p.calls {
		t.Errorf("%d hits of %d, %d unmatched, %d partial", m.Hits, p.played*p.period.Events, m.Unmatched, m.Partial)
	}
	return prof
}

// A machine with many threads and rings: nested teams, criticals, loops, locks,
// barriers and tasks come out as often as they were.
func TestLargeMachine(t *testing.T) {
	for _, threads := range []int{1, 8, 256} {
		for _, rings := range []int{1, 2, 64} {
			t.Run(fmt.Sprintf("%d threads, %d rings", threads, rings), func(t *testing.T) {
				p := newMachinePlayer(synthetic.Machine{Threads: threads, Rings: rings, Step: 1000})
				for range 5 {
					p.play()
				}
				p.check(t)
			})
		}
	}
}

func BenchmarkMachine(b *testing.B) {
	for _, threads := range []int{8, 256} {
		for _, rings := range []int{2, 64} {
			b.Run(fmt.Sprintf("%d threads, %d rings", threads, rings), func(b *testing.B) {
				p := newMachinePlayer(synthetic.Machine{Threads: threads, Rings: rings, Step: 1000})
				p.play()
				b.ReportAllocs()
				events := 0
				for b.Loop() {
					p.play()
					events += p.period.Events
				}
				b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
			})
		}
	}
}

// A snapshot holds up who reads the rings while the engine is copied.
func BenchmarkSnapshot(b *testing.B) {
	p := newMachinePlayer(synthetic.Machine{Threads: 256, Rings: 64, Step: 1000})
	for range 5 {
		p.play()
	}
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			p.engine.Copy(nowhere{})
		}
	})
	b.Run("finish", func(b *testing.B) {
		for b.Loop() {
			p.engine.Copy(nowhere{}).Snapshot(p.begin)
		}
	})
}
