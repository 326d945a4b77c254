package bpf

import "testing"

// A reader that maps the rings after another reader does not get that reader's records again.
func TestReadersTakeTurns(t *testing.T) {
	p, rings, row := drivenProbes(t)
	d := startDrivers(p, 1)
	defer d.end()
	first, err := p.Rings()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, r := range first {
			r.Close()
		}
	}()
	for _, reader := range [][]*Ring{first, rings, first} {
		if err := d.drive(1, series{steps: []step{{row: row}}, count: 100}); err != nil {
			t.Fatal(err)
		}
		if n := readAll(t, reader, map[uint32]*seen{}); n != 100 {
			t.Errorf("%d records of 100", n)
		}
	}
}
