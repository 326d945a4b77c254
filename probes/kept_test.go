package probes

import (
	"encoding/json"
	"reflect"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/disasm"
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
	p.add("f", &rows[0], at, disasm.Emulated, bpf.Row{Flags: bpf.RowReturn, TextLo: 1 << 63, TlsSlot: -1})
	p.add("g", &rows[0], at+16, disasm.JumpCost, bpf.Row{Flags: bpf.RowEntry})
	p.add("h", &rows[1], at+32, disasm.SingleStep, bpf.Row{Here: -7})
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
