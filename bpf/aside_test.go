package bpf

import (
	"testing"
	"unsafe"
)

// Records that were set aside come before the records in the ring, each once and in order. Records
// for which memory has no room stay in the ring.
func TestSetAside(t *testing.T) {
	p, rings, row := drivenProbes(t)
	d := startDrivers(p, 1)
	defer d.end()
	const each = 1000
	hit := func() {
		t.Helper()
		if err := d.drive(1, series{steps: []step{{row: row}}, count: each}); err != nil {
			t.Fatal(err)
		}
	}
	setAside := func(limit int) {
		t.Helper()
		for _, r := range rings {
			if err := r.SetAside(limit); err != nil {
				t.Fatal(err)
			}
		}
	}
	bytes := func() (n int) {
		for _, r := range rings {
			n += len(r.aside.bytes)
		}
		return n
	}
	hit()
	setAside(1 << 20)
	all := bytes()
	if all < each*48 {
		t.Fatalf("%d bytes set aside of %d records", all, each)
	}
	hit()
	limit := all + all/2
	setAside(limit)
	if n := bytes(); n < limit || n > limit+1000 {
		t.Errorf("%d bytes set aside, not more than %d were to be", n, limit)
	}
	setAside(limit)
	hit()
	of := map[uint32]*seen{}
	if n := readAll(t, rings, of); n != 3*each {
		t.Errorf("%d records of %d", n, 3*each)
	}
	for _, s := range of {
		if s.disordered || s.lost > 0 {
			t.Errorf("%+v", *s)
		}
	}
	if bytes() != 0 {
		t.Error("what was set aside is kept")
	}
}

// A Drain of records that were set aside stops at its limit.
func TestDrainAside(t *testing.T) {
	r := &Ring{memory: &recordRing{small: *partOf(1), large: *partOf(1)}}
	for range 10 {
		r.aside.add(make([]byte, unsafe.Sizeof(Record{})))
	}
	records := 0
	for _, want := range []int{4, 4, 2, 0} {
		n, err := r.Drain(4, &Uses{Record: func(*Record, []uint64) { records++ }})
		if n != want || err != nil {
			t.Errorf("%d records, %v; want %d", n, err, want)
		}
	}
	if records != 10 {
		t.Errorf("%d records of 10", records)
	}
}

// A thread that is set apart has a ring of its own.
func TestApart(t *testing.T) {
	p, rings, row := drivenProbes(t)
	d := startDrivers(p, 2)
	defer d.end()
	a, err := p.SetApart(d.tids[0])
	if err != nil {
		t.Fatal(err)
	}
	hits := series{steps: []step{{row: row}}, count: 100}
	if err := d.drive(2, hits); err != nil {
		t.Fatal(err)
	}
	own, others := map[uint32]*seen{}, map[uint32]*seen{}
	readAll(t, []*Ring{a.Ring}, own)
	readAll(t, rings, others)
	if s := own[uint32(d.tids[0])]; s == nil || s.entries != 100 || len(own) != 1 {
		t.Errorf("in the ring of its own: %v", own)
	}
	if s := others[uint32(d.tids[1])]; s == nil || s.entries != 100 || len(others) != 1 {
		t.Errorf("in the rings of all: %v", others)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.drive(1, hits); err != nil {
		t.Fatal(err)
	}
	if n := readAll(t, rings, map[uint32]*seen{}); n != 100 {
		t.Errorf("%d records of 100 of a thread that is set apart no longer", n)
	}
}
