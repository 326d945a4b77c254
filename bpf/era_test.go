package bpf

import (
	"os"
	"testing"
)

// If too many processes have switched their reports off, Unheeded counts each further attempt.
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
		if err := d.drive(1, series{steps: []step{{row: off}}, count: 1}); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that is heard again no longer counts as silent.
func TestHear(t *testing.T) {
	p, rings, row := drivenProbes(t)
	off, err := p.AddRow(Row{Flags: RowOff})
	if err != nil {
		t.Fatal(err)
	}
	d := startDrivers(p, 1)
	defer d.end()
	silent := func() (n uint32) {
		t.Helper()
		if err := p.coll.Variables[probeVarNumSilent].Get(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	hear := func(pid int) {
		t.Helper()
		if err := p.Hear(pid); err != nil {
			t.Fatal(err)
		}
	}
	records := func() (n int) {
		t.Helper()
		if err := d.drive(1, series{steps: []step{{row: row}}, count: 1}); err != nil {
			t.Fatal(err)
		}
		drainFolds(t, rings, func(*Record) { n++ })
		return n
	}
	hear(os.Getpid()) // was never silent
	if n := silent(); n != 0 {
		t.Fatalf("%d silent at the beginning", n)
	}
	for range 2 { // a second time counts once
		if err := d.drive(1, series{steps: []step{{row: off}}, count: 1}); err != nil {
			t.Fatal(err)
		}
		if n, r := silent(), records(); n != 1 || r != 0 {
			t.Errorf("switched off: %d silent, %d records", n, r)
		}
	}
	hear(1)
	if n := silent(); n != 1 {
		t.Errorf("another process heard: %d silent", n)
	}
	hear(os.Getpid())
	if n, r := silent(), records(); n != 0 || r != 1 {
		t.Errorf("heard: %d silent, %d records", n, r)
	}
}
