package probes

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// self is the test's own program, with a plan of two probes of one row and one of another.
func self(t testing.TB) *Plan {
	t.Helper()
	o, err := symbols.OpenObject("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	p := &Plan{Runtime: event.Gomp, Object: o, runtime: &Runtime{Name: event.Gomp}, Missing: []string{"f: no place"}}
	at := o.TextRanges()[0].Lo
	rows := []Row{{Construct: event.Barrier, Entry: event.Wait, Return: event.Waited, A: Key(1)}, {Construct: event.Critical, Entry: event.Enter, Lift: -8}}
	p.add("f", &rows[0], at, points.Emulated, bpf.Row{Flags: bpf.RowReturn, TextLo: 1 << 63, TlsSlot: -1})
	p.add("g", &rows[0], at+16, points.JumpCost, bpf.Row{Flags: bpf.RowEntry})
	p.add("h", &rows[1], at+32, points.SingleStep, bpf.Row{Here: -7})
	p.Placements[1].replaced = true
	p.add("i", &rows[0], at+48, points.CallCost, bpf.Row{Flags: bpf.RowEntry})
	p.Placements, p.derived = p.Placements[:3:3], slices.Clone(p.Placements[3:])
	return p
}

// What is kept of a plan makes the same plan again. A program that answers otherwise gets none.
func TestKeep(t *testing.T) {
	p := self(t)
	b, err := json.Marshal(keep(p, map[string]bool{"yes": true, "no": false}))
	if err != nil {
		t.Fatal(err)
	}
	k := decodePlan(b)
	got, ok := k.plan(p.runtime, p.Object, func(s string) bool { return s == "yes" })
	if !ok || !reflect.DeepEqual(got, p) {
		t.Errorf("%v: kept %+v\nof %+v", ok, got, p)
	}
	if got.Placements[0].Row != got.Placements[1].Row {
		t.Error("one row has become two")
	}
	for _, answer := range []bool{true, false} {
		if _, ok := k.plan(p.runtime, p.Object, func(string) bool { return answer }); ok {
			t.Errorf("a plan for a program that always answers %v", answer)
		}
	}
}

// Where ends may be derived, some probes stand for others.
func TestDeriveEnds(t *testing.T) {
	symbols := func(p *Plan) (all []string) {
		for i := range p.Placements {
			all = append(all, p.Placements[i].Symbol)
		}
		return all
	}
	for range 2 {
		p := self(t)
		if got, want := symbols(p), []string{"f", "g", "h"}; !slices.Equal(got, want) {
			t.Errorf("where all ends are reported: %q, want %q", got, want)
		}
		for range 2 {
			p.DeriveEnds()
			if got, want := symbols(p), []string{"f", "h", "i"}; !slices.Equal(got, want) {
				t.Errorf("where ends may be derived: %q, want %q", got, want)
			}
		}
		p = self(t)
		p.Keep(func(c event.Construct) bool { return c == event.Critical })
		p.DeriveEnds()
		if got, want := symbols(p), []string{"h"}; !slices.Equal(got, want) {
			t.Errorf("without barriers: %q, want %q", got, want)
		}
	}
}

// Places that cannot be had change nothing.
func TestWhereDerivedFails(t *testing.T) {
	for name, place := range map[string]func(p *Planner) error{
		"an error": func(p *Planner) error {
			p.At("x", p.Placements[0].Row, p.Placements[0].VAddr+64, points.JumpCost, points.Always)
			return errors.New("no")
		},
		"not in the file": func(p *Planner) error {
			p.At("x", p.Placements[0].Row, 1<<62, points.JumpCost, points.Always)
			return nil
		},
	} {
		p, want := &Planner{Plan: self(t)}, self(t)
		p.WhereDerived(1, func() error { return place(p) }, func(*Placement) bool { return true })
		if !slices.Equal(p.Probed(), want.Probed()) || !slices.Equal(p.Missing, want.Missing) || len(p.derived) != len(want.derived) || p.Placements[0].replaced {
			t.Errorf("%s: %+v", name, p.Plan)
		}
	}
}

// FuzzKeptPlan: whatever stands in the cache, no probe is placed outside of the file.
func FuzzKeptPlan(f *testing.F) {
	p := self(f)
	b, err := json.Marshal(keep(p, map[string]bool{"no": false}))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(b), "", "{}", `{"Placements":[{"Row":-1}]}`, `{"Rows":[{}],"Placements":[{"VAddr":1}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		k := decodePlan(b)
		if k == nil {
			return
		}
		got, ok := k.plan(p.runtime, p.Object, func(string) bool { return false })
		if !ok {
			return
		}
		for _, pl := range got.Placements {
			if off, in := p.Object.FileOffset(pl.VAddr); !in || off != pl.Offset || pl.Row == nil {
				t.Errorf("%+v", pl)
			}
		}
	})
}
