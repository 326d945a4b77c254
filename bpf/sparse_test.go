package bpf

import "testing"

// reasons counts the records of sparse rows by what was decided of their returns.
func reasons(t *testing.T, rings []*Ring) map[uint16]int {
	t.Helper()
	n := map[uint16]int{}
	drainFolds(t, rings, func(r *Record) { n[r.Flags&(RecUnarmed|RecByChance|RecAnyway|RecSeldom)]++ })
	return n
}

// The first returns of a place are armed, then about one in 16. Once chance has armed some of
// these, about one in 32 is armed.
func TestReturnsAreSparse(t *testing.T) {
	p, rings, _ := drivenProbes(t)
	add := func(flags uint32) uint32 {
		t.Helper()
		row, err := p.AddRow(Row{Flags: RowEntry | RowReturn | RowSparse | flags, TextHi: 1})
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	sparse, exact := add(0), add(RowExact)
	d := startDrivers(p, 1)
	defer d.end()
	drive := func(row uint32, n int) map[uint16]int {
		t.Helper()
		if err := d.drive(1, series{steps: []step{{row: row}}, count: n}); err != nil {
			t.Fatal(err)
		}
		return reasons(t, rings)
	}
	const first = 64 // SPARSE_FIRST
	if got := drive(sparse, first); got[RecAnyway] != first {
		t.Errorf("the first %d returns: %v", first, got)
	}
	check := func(n, oneIn int, chosen uint16, got map[uint16]int) {
		t.Helper()
		// Hits are rare where the driver was interrupted.
		if few := n / oneIn; got[chosen] < few*6/10 || got[chosen] > few*14/10 || got[RecAnyway] > n/50 || got[RecUnarmed] < n*9/10 {
			t.Errorf("of %d more returns: %v (unarmed %d, by chance %d)", n, got, RecUnarmed, chosen)
		}
	}
	const n = 4096
	check(n/8, 16, RecByChance, drive(sparse, n/8))
	drive(sparse, n) // chance arms more than SPARSE_MANY
	check(n, 32, RecByChance|RecSeldom, drive(sparse, n))
	// From the first hit of such a row on, all returns are armed.
	if got := drive(exact, 1); got[0] != 1 {
		t.Errorf("at a row that wants all returns: %v", got)
	}
	if got := drive(sparse, n); got[0] != n {
		t.Errorf("behind such a row: %v", got)
	}
}

func TestArmAll(t *testing.T) {
	p, rings, _ := drivenProbes(t)
	row, err := p.AddRow(Row{Flags: RowEntry | RowReturn | RowSparse, TextHi: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.ArmAll(); err != nil {
		t.Fatal(err)
	}
	d := startDrivers(p, 1)
	defer d.end()
	if err := d.drive(1, series{steps: []step{{row: row}}, count: 500}); err != nil {
		t.Fatal(err)
	}
	if got := reasons(t, rings); got[0] != 500 {
		t.Errorf("%v", got)
	}
}
