package collect

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/bpf"
	"ompp-attach/collect/advice"
	"ompp-attach/event"
	"ompp-attach/internal/synthetic"
	"ompp-attach/probes"
	"ompp-attach/probes/gomp"
)

// recordOf is the record of which the decoder makes an event.
func recordOf(t testing.TB, d *probes.Decoder, ev *event.Event) bpf.Record {
	t.Helper()
	r := bpf.Record{Time: ev.Time, Pid: ev.PID, Tid: ev.TID, Sp: ev.SP, Lost: ev.Lost}
	for row := range d.Rows() {
		for _, flags := range []uint16{bpf.RecNoReturn, 0, bpf.RecFree, bpf.RecReturn} {
			r.Row, r.Flags = uint16(row), flags
			r.Site, r.Num, r.Size, r.A, r.B = ev.Site, ev.Num, ev.Size, 0, 0
			if flags == bpf.RecReturn {
				r.Site, r.Num, r.Size = 0, 0, 0
			}
			for _, a := range []uint64{ev.Fn, ev.Key} {
				for _, b := range []uint64{ev.Fn, ev.Key, 0} {
					r.A, r.B = a, b
					var got event.Event
					if d.Event(&r, &got); got.Construct == ev.Construct && got.Edge == ev.Edge && same(got, *ev) {
						return r
					}
				}
			}
		}
	}
	t.Fatalf("no record makes %+v", *ev)
	return r
}

// same compares the fields that the engine reads.
func same(a, b event.Event) bool {
	a.Flags, b.Flags = a.Flags&event.FreeAtOnce, b.Flags&event.FreeAtOnce
	// libgomp's primary thread begins by a return.
	if a.Construct == event.Parallel && a.Edge == event.Begin && a.Num == 0 {
		b.Key = a.Key
	}
	a.Counters, b.Counters = nil, nil
	return a.TID == b.TID && a.Site == b.Site && a.Fn == b.Fn && a.Key == b.Key && a.Num == b.Num && a.Size == b.Size && a.Flags == b.Flags
}

// machine is an imagined program whose records are handled like those from rings.
type machine struct {
	decoder *probes.Decoder
	process *Process
	period  *synthetic.Period
	rings   [][]bpf.Record
	begin   uint64
	played  int
}

func newMachine(t testing.TB, m synthetic.Machine) *machine {
	out := &machine{decoder: probes.NewTabled(event.Gomp, gomp.Rows()), period: m.Period(), begin: 1e9}
	for _, ring := range out.period.Rings {
		var records []bpf.Record
		for i := range ring {
			records = append(records, recordOf(t, out.decoder, &ring[i]))
		}
		out.rings = append(out.rings, records)
	}
	out.process = &Process{pid: synthetic.Process, reading: reading{usage: advice.NewUsage(), engine: attribution.New(synthetic.Process, (&stream.Stream{}))}}
	out.process.usage.Add(0, event.Gomp, "libgomp.so.1")
	return out
}

// play feeds the records of one period, as drain does.
func (m *machine) play(t testing.TB) {
	var ev event.Event
	tids, first := m.period.TIDs(m.played), m.period.FirstNested()
	for _, ring := range m.rings {
		for i := range ring {
			r := &ring[i]
			if !m.decoder.Event(r, &ev) {
				t.Fatal("unknown record")
			}
			ev.Time += m.begin
			if ev.TID >= first {
				ev.TID += tids
			}
			m.process.feed(&ev)
		}
	}
	m.played++
	m.begin += m.period.Length + 2e6
	m.process.engine.Advance(m.begin)
}

// The records are of a machine with 256 threads, with nested teams, criticals, loops, locks,
// barriers and tasks. They are decoded to the events that they were made of.
func TestLargeMachine(t *testing.T) {
	m := newMachine(t, synthetic.Machine{Threads: 256, Rings: 64, Step: 1000})
	for range 3 {
		m.play(t)
	}
	p := m.process.engine.Finish(m.begin)
	got := map[event.Construct]uint64{}
	for _, n := range p.Nodes[1:] {
		for _, s := range n.Stats {
			got[p.Regions[n.Region].Construct] += s.Exec.C
		}
	}
	for c, n := range m.period.Counts {
		if got[c] != n*uint64(m.played) {
			t.Errorf("%s: %d executions, want %d", c, got[c], n*uint64(m.played))
		}
	}
	if p.Meta.Unmatched+p.Meta.Partial > 0 {
		t.Errorf("%d unmatched, %d partial", p.Meta.Unmatched, p.Meta.Partial)
	}
	var one advice.Cores
	one.Read(fstest.MapFS{"proc/1/task/1/status": {Data: []byte("Cpus_allowed_list:\t0\n")}}, 1)
	if w := strings.Join(m.process.usage.Oversubscribed(&one), " "); !strings.Contains(w, "teams of up to 256 threads") {
		t.Errorf("said of the largest team: %q", w)
	}
}

// BenchmarkMachine measures the whole way in user space without the ring, from record to event to
// engine, for machines with few and with many threads.
func BenchmarkMachine(b *testing.B) {
	for _, threads := range []int{8, 256} {
		b.Run(fmt.Sprintf("%d threads", threads), func(b *testing.B) {
			m := newMachine(b, synthetic.Machine{Threads: threads, Rings: 2, Step: 1000})
			m.play(b)
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				m.play(b)
				events += m.period.Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
