package probes

import (
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/event"
)

// A call that was forwarded is not the library's own, and its call site is not known.
func TestForwardedDecoded(t *testing.T) {
	row := &Row{Construct: event.Critical, Entry: event.Enter, Return: event.Acquired, A: Loc(0), B: Fn(2),
		Flags: bpf.RowOutsideOnly, Forwarded: true}
	d := NewTabled(event.Kmpc, []*Row{row})
	for flags, site := range map[uint16]uint64{0: 77, bpf.RecInside: 0} {
		var ev event.Event
		if !d.Event(&bpf.Record{Flags: flags, Site: 77, A: 5, B: 6}, &ev) || ev.Site != site || ev.Flags&event.Inside != 0 || ev.Loc != 5 || ev.Fn != 6 {
			t.Errorf("flags %#x: %+v, want the site %d", flags, ev, site)
		}
		if !d.Fold(&bpf.FoldRecord{Flags: flags, Site: 77, A: 5, B: 6}, &ev, &event.Fold{}) || ev.Site != site || ev.Flags&event.Inside != 0 || ev.Loc != 5 || ev.Fn != 6 {
			t.Errorf("folded, flags %#x: %+v, want the site %d", flags, ev, site)
		}
	}
}

// The engine is told why the return of a call is reported, or that it is not.
func TestArmedDecoded(t *testing.T) {
	d := NewTabled(event.Gomp, []*Row{{Construct: event.Barrier, Entry: event.Wait, Return: event.Waited}})
	for flags, want := range map[uint16]event.Flag{
		0: 0, bpf.RecUnarmed: event.Unarmed, bpf.RecAnyway: event.Anyway,
		bpf.RecByChance: event.ByChance, bpf.RecByChance | bpf.RecSeldom: event.ByChance | event.Seldom,
	} {
		var ev event.Event
		if !d.Event(&bpf.Record{Flags: flags}, &ev) || ev.Flags != want {
			t.Errorf("flags %#x: %#x, want %#x", flags, ev.Flags, want)
		}
	}
}
