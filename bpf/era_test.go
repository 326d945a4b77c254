package bpf

import "testing"

// Where too many processes have switched their reports off, one more is told of.
func TestUnheeded(t *testing.T) {
	p, _, _ := drivenProbes(t)
	off, err := p.AddRow(Row{Flags: RowEntry | RowOff})
	if err != nil {
		t.Fatal(err)
	}
	d := startDrivers(p, 1)
	defer d.end()
	silent := p.coll.Maps[probeMapSilent]
	for pid := range silent.MaxEntries() {
		if err := silent.Put(1<<30+pid, uint8(1)); err != nil {
			t.Fatal(err)
		}
	}
	for want := range uint32(3) {
		if got := p.Unheeded(); got != want {
			t.Errorf("%d times not switched off, want %d", got, want)
		}
		if err := d.drive(1, Hits{Steps: []Step{{Row: off}}, Count: 1}); err != nil {
			t.Fatal(err)
		}
	}
}
