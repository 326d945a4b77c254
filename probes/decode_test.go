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

// A record tells of hits without records in place of a call's site.
func TestLeftOutDecoded(t *testing.T) {
	row := &Row{Construct: event.Parallel, Entry: event.Begin, A: Key(4), Flags: bpf.RowNoSite}
	d := &Decoder{rows: []decoded{{row: row}, {row: row, leftOut: true}}}
	for i, want := range []event.Event{{Site: 77}, {LeftOut: 77}} {
		var ev event.Event
		if !d.Event(&bpf.Record{Row: uint16(i), Site: 77, A: 5}, &ev) || ev.Site != want.Site || ev.LeftOut != want.LeftOut || ev.Key != 5 {
			t.Errorf("row %d: %+v", i, ev)
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
