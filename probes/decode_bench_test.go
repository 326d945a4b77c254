package probes

import (
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/event"
)

// oneOfEach returns a decoder that knows libgomp's points, and a record of the
// entry, and if it has one the return, of each.
func oneOfEach() (*Decoder, []bpf.Record) {
	d := &Decoder{}
	var recs []bpf.Record
	for i := range gompPoints {
		pt := &gompPoints[i]
		d.rows = append(d.rows, decoded{point: pt, runtime: event.Gomp})
		recs = append(recs, bpf.Record{Time: 1, Pid: 2, Tid: 3, Row: uint16(i), Sp: 4, Site: 5, A: 6, B: 7})
		if pt.ret != event.NoEdge {
			recs = append(recs, bpf.Record{Time: 1, Pid: 2, Tid: 3, Row: uint16(i), Flags: bpf.RecReturn, Sp: 4, A: 1})
		}
	}
	return d, recs
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
