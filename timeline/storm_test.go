package timeline

import (
	"bytes"
	"io"
	"testing"
)

// TestThreads: of a program with any number of threads that live for a moment, no execution is lost
// because there are many threads. The packer's queue holds all of them, even if it does nothing
// meanwhile.
func TestThreads(t *testing.T) {
	const threads, each = 20_000, 4
	for name, plan := range map[string]Plan{"kept in memory": {}, "written meanwhile": {Stream: true}, "the longest": {Longest: 1000}} {
		t.Run(name, func(t *testing.T) {
			file := &limited{left: 1 << 30}
			plan.Cap = defaultCap
			r := recorder(t, Options{Plan: plan, Open: func() (io.WriteCloser, error) { return file, nil }})
			for tid := range uint32(threads) {
				for k := range uint64(each) {
					at := uint64(tid)*1e5 + k*100
					r.Span(&Span{TID: tid, Node: 1, From: at, To: at + 50})
				}
				// All lanes are closed each 1000 threads.
				if len(r.lanes) > threads/4 && plan.Longest > 0 {
					t.Fatalf("%d lanes are open", len(r.lanes))
				}
			}
			r.End(dictionary(1))
			if err := r.Finish(); err != nil {
				t.Fatal(err)
			}
			b := file.Bytes()
			if !plan.Stream {
				b = save(t, r)
			}
			f := read(t, b)
			n, _ := f.Spans()
			for _, g := range f.Gaps {
				if g.Why != ByLength {
					t.Errorf("gap %+v", g)
				}
			}
			if f.Torn || plan.Longest == 0 && (n != threads*each || len(f.TIDs()) != threads) {
				t.Errorf("%d spans of %d threads can be read; torn %v", n, len(f.TIDs()), f.Torn)
			}
		})
	}
}

// TestThreadsWithoutRoom: where the queue is full, what is lost is counted.
func TestThreadsWithoutRoom(t *testing.T) {
	const threads = 200_000
	r := recorder(t, Options{Plan: Plan{Cap: leastCap}})
	for tid := range uint32(threads) {
		r.Span(&Span{TID: tid, Node: 1, From: uint64(tid), To: uint64(tid) + 50})
	}
	r.End(dictionary(1))
	var b bytes.Buffer
	if err := r.Save(&b); err != nil {
		t.Fatal(err)
	}
	f := read(t, b.Bytes())
	n, _ := f.Spans()
	for _, g := range f.Gaps {
		n += g.Spans
	}
	if n != threads {
		t.Errorf("%d spans are kept, or counted as dropped, of %d", n, threads)
	}
}
