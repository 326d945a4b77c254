package bpf

import (
	"errors"
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
