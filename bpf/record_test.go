package bpf

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"
)

func TestDecodeRecord(t *testing.T) {
	want := Record{Time: 1, Pid: 2, Tid: 3, Row: 4, Flags: RecReturn, Lost: 5, Sp: 6, Site: 7, A: 8, B: 9, Num: -1, Size: 10}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&want)), unsafe.Sizeof(want))
	unaligned := append([]byte{0}, raw...)[1:]
	var got Record
	if err := decode(unaligned, &got); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, n := range []int{0, 1, len(raw) - 1} {
		if err := decode(raw[:n], &got); !errors.Is(err, ErrShortRecord) {
			t.Errorf("%d bytes: %v, want ErrShortRecord", n, err)
		}
	}
	if err := decode(append(raw[:len(raw):len(raw)], 0), &got); !errors.Is(err, ErrShortRecord) {
		t.Errorf("one byte too many: %v, want ErrShortRecord", err)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(make([]byte, unsafe.Sizeof(Record{})))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Record
		if err := decode(b, &r); (err == nil) != (len(b) == int(unsafe.Sizeof(r))) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	})
}

func TestRingBytes(t *testing.T) {
	for _, tc := range []struct {
		rings int
		want  uint32
	}{{1, 16 << 20}, {16, 16 << 20}, {32, 8 << 20}, {64, 4 << 20}, {1000, 2 << 20}} {
		if got := ringBytes(tc.rings); got != tc.want {
			t.Errorf("%d rings: %d bytes each, want %d", tc.rings, got, tc.want)
		}
	}
}

func TestRingsFor(t *testing.T) {
	for processors, want := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4, 6: 8, 33: 64, 64: 64, 500: 64} {
		if got := ringsFor(processors, 64); got != want {
			t.Errorf("%d rings for %d processors, want %d", got, processors, want)
		}
	}
}

// The counts of several executions follow their record: the thread's counters when the first
// execution began, then the sums.
func TestDecodeFolded(t *testing.T) {
	b := make([]byte, int(unsafe.Sizeof(FoldRecord{}))+4*8)
	binary.NativeEndian.PutUint16(b[flagsAt:], recFolded|recCounters)
	for i, v := range []uint64{1, 1 << 40, 30, 1<<63 + 4} {
		binary.NativeEndian.PutUint64(b[len(b)-32+8*i:], v)
	}
	if !isFolded(b) {
		t.Fatal("not taken for a record of several executions")
	}
	var f FoldCounters
	if err := decodeFolded(b, &f); err != nil || !slices.Equal(f.First, []uint64{1, 1 << 40}) || !slices.Equal(f.Sum, []uint64{30, 1<<63 + 4}) {
		t.Errorf("%v, %v (%v)", f.First, f.Sum, err)
	}
	if err := decodeFolded(b[:len(b)-32], &f); err != nil || len(f.First)+len(f.Sum) != 0 {
		t.Errorf("of none: %v, %v (%v)", f.First, f.Sum, err)
	}
	for _, n := range []int{8, 24} {
		if err := decodeFolded(b[:len(b)-n], &f); !errors.Is(err, ErrShortRecord) {
			t.Errorf("%d bytes less: %v", n, err)
		}
	}
}
