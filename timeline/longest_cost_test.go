package timeline

import (
	"runtime"
	"testing"
	"unsafe"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// The reckoned cost of a held execution is its real one. Without counters it is compared with the
// sizes of its parts, with counters with what the allocator gives.
func TestCostOfAHeldExecution(t *testing.T) {
	if size := unsafe.Sizeof(extreme{}) + unsafe.Sizeof(stretch{}); size > extremeCost || size < extremeCost*3/4 {
		t.Errorf("an execution takes %d bytes, %d are reckoned", size, extremeCost)
	}
	const n = 20000
	s := Span{From: 1, To: 2, Counts: &profile.Counts{All: make([]int64, event.MaxCounts), Child: make([]int64, event.MaxCounts)}}
	all := make([]extreme, n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range all {
		all[i] = held(&s, uint64(i))
	}
	runtime.ReadMemStats(&after)
	each := float64(after.TotalAlloc-before.TotalAlloc) / n
	// The rest of the test's process may allocate a little meanwhile.
	if each > countsCost*1.02 || each < countsCost*0.9 {
		t.Errorf("the counters of an execution take %.1f bytes, %d are reckoned", each, countsCost)
	}
	runtime.KeepAlive(all)
	// So many of them are held as there is memory for.
	for _, counting := range []bool{false, true} {
		cost := int64(extremeCost)
		if counting {
			cost += countsCost
		}
		lo := newLongest(2000, 1000*cost, counting)
		lo.define(&Definition{ID: 1})
		for i := range uint64(5000) {
			s.Node, s.From, s.To = 1, 10, 11+i*7%5000
			lo.note(&s, 1)
		}
		if lo.held > 1000 || lo.held < 500 || len(lo.claims()) != lo.held {
			t.Errorf("counters %v: %d executions are held, there is memory for 1000", counting, lo.held)
		}
	}
}
