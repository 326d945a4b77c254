package timeline

import (
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestRingHeap: a ring takes no more of the heap than its cap and what compressing takes. This
// holds for any number of spans and threads, also if spans come faster than they are compressed.
func TestRingHeap(t *testing.T) {
	const most, fixed = 16 << 20, 6 << 20
	for name, threads := range map[string]uint32{"one thread": 1, "many threads": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			before := heapInUse()
			r := recorder(t, Options{Plan: Plan{Cap: most}})
			rnd := rand.New(rand.NewPCG(1, 2))
			fed, now, largest := uint64(0), uint64(0), int64(0)
			for range 8 {
				for range 250_000 {
					now += rnd.Uint64N(1 << 40) // hardly to be compressed
					r.Span(&Span{TID: rnd.Uint32N(threads), Node: 1, From: now, To: now + rnd.Uint64N(1<<40), Lock: rnd.Uint64()})
					fed++
				}
				largest = max(largest, heapInUse()-before)
			}
			t.Logf("%d spans: %.1f MiB", fed, float64(largest)/(1<<20))
			if largest > most+fixed {
				t.Errorf("%d bytes of heap, the cap is %d", largest, most)
			}
			r.End(dictionary(1))
			if err := r.Save(io.Discard); err != nil {
				t.Fatal(err)
			}
			kept := uint64(0)
			for i := range r.packer.shelf.chunks {
				kept += r.packer.shelf.chunks[i].spans
			}
			for _, g := range r.Gaps() {
				kept += g.Spans
			}
			if kept != fed {
				t.Errorf("%d spans are kept, or counted as dropped, of %d", kept, fed)
			}
		})
	}
}

// heapInUse returns how many bytes of the heap are in use.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
