package bpf

import (
	"os"
	"testing"
	"time"

	"ompp-attach/event"
)

// foldRows are the rows of a folded construct: one begins it, one ends it.
func foldRows(t testing.TB, p *driven, fold bool) (begin, end uint32) {
	t.Helper()
	add := func(flags uint32) uint32 {
		if fold {
			flags |= FoldGroup(3)
		} else {
			flags &^= RowFoldBegin | RowFoldEnd
		}
		row, err := p.AddRow(Row{Flags: flags | RowEntry | RowReturn, A: Arg(0)})
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	return add(RowFoldBegin | RowFreeIfZF), add(RowFoldEnd | RowFreeIfNotSF | RowNoSite)
}

// drainFolds reads the folded executions and hits, by thread.
func drainFolds(t testing.TB, rings []*Ring, records func(*Record)) (n, hits map[uint32]uint64) {
	t.Helper()
	n, hits = map[uint32]uint64{}, map[uint32]uint64{}
	for _, r := range rings {
		_, err := r.Drain(1<<30, &Uses{Record: func(rec *Record, _ []uint64) { records(rec) }, Fold: func(rec *FoldRecord, _ *FoldCounters) {
			n[rec.Tid] += rec.N
			hits[rec.Tid] += rec.Hits
			if rec.Time > rec.Last || rec.Enter+rec.Body+rec.Exit > rec.Last-rec.Time {
				t.Errorf("%+v", rec)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n, hits
}

// There are more executions than the rings have room for records. None is lost: each thread writes
// one record of its executions, before its next record, or when a walk settles the thread.
func TestFoldedByManyThreads(t *testing.T) {
	const threads, chunk, turns = 256, 1 << 14, 3
	p, rings, row := drivenProbes(t)
	begin, end := foldRows(t, p, true)
	d := startDrivers(p, threads)
	defer d.end()
	hits := series{steps: []step{{row: begin}, {row: end}}, count: chunk, arg: 7, equal: true}
	nobody := func(rec *Record) { t.Errorf("record %+v", rec) }
	check := func(by string, records func(*Record)) {
		t.Helper()
		n, of := drainFolds(t, rings, records)
		for _, tid := range d.tids {
			if n[uint32(tid)] != turns*chunk/2 || of[uint32(tid)] != turns*chunk {
				t.Errorf("settled by %s: %d executions of %d, %d hits", by, n[uint32(tid)], turns*chunk/2, of[uint32(tid)])
			}
		}
	}
	for range turns {
		if err := d.drive(threads, hits); err != nil {
			t.Fatal(err)
		}
		drainFolds(t, rings, nobody)
	}
	if err := p.SettleFolds(os.Getpid(), false); err != nil {
		t.Fatal(err)
	}
	check("a walk", nobody)

	for range turns {
		if err := d.drive(threads, hits); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.drive(threads, series{steps: []step{{row: row}}, count: 1}); err != nil {
		t.Fatal(err)
	}
	others := 0
	check("another record", func(*Record) { others++ })
	if others != threads {
		t.Errorf("%d other records, want %d", others, threads)
	}

	// While folding is held, the begin and the end of an open construct get a record each.
	if err := d.drive(threads, series{steps: []step{{row: begin}}, count: 1, arg: 7, equal: true}); err != nil {
		t.Fatal(err)
	}
	drainFolds(t, rings, nobody)
	if err := p.HoldFolds(); err != nil {
		t.Fatal(err)
	}
	hits.count = 3
	hits.steps = []step{{row: end}, {row: begin}}
	if err := d.drive(threads, hits); err != nil {
		t.Fatal(err)
	}
	seen := map[uint32]int{}
	n, _ := drainFolds(t, rings, func(rec *Record) { seen[uint32(rec.Row)]++ })
	if seen[begin] != 2*threads || seen[end] != 2*threads || len(n) != 0 {
		t.Errorf("held: %d beginnings, %d ends, %v folded", seen[begin], seen[end], n)
	}
	if dropped, err := p.Dropped(); err != nil || len(dropped) > 0 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
}

// The calibrating thread folds, and settles before its next record. The hits of other threads look
// up no state before one of these threads folds, too.
func TestCalibrationFoldsForItself(t *testing.T) {
	p, rings, row := drivenProbes(t)
	begin, end := foldRows(t, p, true)
	d := startDrivers(p, 2)
	defer d.end()
	a, err := p.SetApart(d.tids[1])
	if err != nil {
		t.Fatal(err)
	}
	pairs := series{steps: []step{{row: begin}, {row: end}}, count: 100, equal: true}
	one := series{steps: []step{{row: row}}, count: 1}
	folds := func(who int, wanted []*Ring) {
		t.Helper()
		for _, h := range []series{pairs, one} {
			d.start[who] <- h
			if err := <-d.done; err != nil {
				t.Fatal(err)
			}
		}
		n, _ := drainFolds(t, wanted, func(rec *Record) {
			if uint32(rec.Row) != row {
				t.Errorf("%+v: not folded", rec)
			}
		})
		if tid := uint32(d.tids[who]); n[tid] != 50 || len(n) != 1 {
			t.Errorf("%v executions came, of 50 of thread %d", n, tid)
		}
	}
	know := func(want bool) {
		t.Helper()
		var folding uint32
		if err := p.coll.Variables[probeVarFolding].Get(&folding); err != nil {
			t.Fatal(err)
		}
		if (folding != 0) != want {
			t.Errorf("a thread has folded: %d, want %v", folding, want)
		}
	}
	folds(1, []*Ring{a.Ring})
	know(false)
	folds(0, rings)
	know(true)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkFold measures what a folded hit costs without the probe itself, beside a hit that is not
// folded.
func BenchmarkFold(b *testing.B) {
	for _, fold := range []bool{true, false} {
		name := "streamed"
		if fold {
			name = "folded"
		}
		b.Run(name, func(b *testing.B) {
			const chunk = 1 << 14
			p, rings, _ := drivenProbes(b)
			begin, end := foldRows(b, p, fold)
			d := startDrivers(p, 1)
			defer d.end()
			hits := series{steps: []step{{row: begin}, {row: end}}, count: chunk, equal: true}
			var driving time.Duration
			made := 0
			for b.Loop() {
				at := time.Now()
				if err := d.drive(1, hits); err != nil {
					b.Fatal(err)
				}
				driving, made = driving+time.Since(at), made+chunk
				drainFolds(b, rings, func(*Record) {})
			}
			b.ReportMetric(float64(driving.Nanoseconds())/float64(made), "ns/hit")
		})
	}
}

// TestFoldGroups: each construct that is folded has a number that fits into its bits of a row's
// flags, and touches no other flag.
func TestFoldGroups(t *testing.T) {
	others := RowEntry | RowReturn | RowFoldBegin | RowFoldEnd | RowFoldByName | RowFoldTest | RowFoldTestBool
	seen := map[uint32]event.Construct{}
	for _, c := range event.AllConstructs() {
		n := c.FoldIndex()
		if n == 0 {
			continue
		}
		group := FoldGroup(n)
		if n > FoldGroups || group == 0 || group&others != 0 {
			t.Errorf("%v: number %d gives the flags %#x", c, n, group)
		}
		if other, ok := seen[group]; ok {
			t.Errorf("%v and %v have the same number", c, other)
		}
		seen[group] = c
	}
}
