package gomp

import (
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// oneOfEach returns a decoder that knows libgomp's entry points. For each of them it returns a
// record of the entry and, if the return is reported, a record of the return.
func oneOfEach() (*probes.Decoder, []bpf.Record) {
	var rows []*probes.Row
	var recs []bpf.Record
	for i := range basic {
		rows = append(rows, &basic[i])
		recs = append(recs, bpf.Record{Time: 1, Pid: 2, Tid: 3, Row: uint16(i), Sp: 4, Site: 5, A: 6, B: 7})
		if basic[i].Return != event.NoEdge {
			recs = append(recs, bpf.Record{Time: 1, Pid: 2, Tid: 3, Row: uint16(i), Flags: bpf.RecReturn, Sp: 4, A: 1})
		}
	}
	return probes.NewTabled(event.Gomp, rows), recs
}

func TestEventAllocatesNothing(t *testing.T) {
	d, recs := oneOfEach()
	var ev event.Event
	n := testing.AllocsPerRun(100, func() {
		for i := range recs {
			if !d.Event(&recs[i], &ev) {
				t.Fatalf("record %d is not known", i)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for %d records, want none", n, len(recs))
	}
}

func BenchmarkEvent(b *testing.B) {
	d, recs := oneOfEach()
	var ev event.Event
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for i := range recs {
			d.Event(&recs[i], &ev)
		}
		n += len(recs)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
