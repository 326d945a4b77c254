package bpf

import (
	"testing"
	"unsafe"
)

func BenchmarkDecodeRecord(b *testing.B) {
	in := Record{Time: 1, Pid: 2, Tid: 3, Row: 4, Sp: 5, Site: 6, A: 7, B: 8, Num: 9, Size: 10}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&in)), unsafe.Sizeof(in))
	var out Record
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := DecodeRecord(raw, &out); err != nil {
			b.Fatal(err)
		}
		n++
	}
	if out != in {
		b.Fatalf("decoded %+v, want %+v", out, in)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
