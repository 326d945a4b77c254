package profile

import (
	"bytes"
	"reflect"
	"testing"

	"ompp-attach/event"
)

// waitsOf returns figures of which each field has another value.
func waitsOf(first int64) *Waits {
	w := &Waits{}
	n := first
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		case reflect.Int64:
			v.SetInt(n)
			n++
		case reflect.Uint64:
			v.SetUint(uint64(n))
			n++
		}
	}
	fill(reflect.ValueOf(w).Elem())
	return w
}

// Whatever is added can be taken away again, field by field, and the codec keeps all of it.
func TestWaitsAreCarried(t *testing.T) {
	a, b := waitsOf(100), waitsOf(1000)
	sum := a.Plus(b)
	if back := sum.minus(b); *back != *a {
		t.Errorf("%+v plus and minus %+v is %+v", *a, *b, *back)
	}
	if *a != *waitsOf(100) || *b != *waitsOf(1000) {
		t.Error("an operand changed")
	}
	if (*Waits)(nil).Plus(a) != a || a.Plus(nil) != a || a.minus(a) != nil {
		t.Error("nothing added or taken away")
	}
	s := ThreadStats{Waits: a}
	s.Add(&ThreadStats{Waits: b})
	if *s.Waits != *sum {
		t.Errorf("Add: %+v, want %+v", *s.Waits, *sum)
	}
	s.Subtract(&ThreadStats{Waits: b})
	if *s.Waits != *a {
		t.Errorf("Subtract: %+v, want %+v", *s.Waits, *a)
	}
	p := &Profile{Threads: make([]Thread, 1), Regions: []Region{{Construct: event.Parallel}},
		Nodes: []Node{{Parent: -1, Region: -1}, {Stats: []ThreadStats{{Waits: a}}}}}
	var file bytes.Buffer
	if err := Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(&file); err != nil || *got.Nodes[1].Stats[0].Waits != *a {
		t.Errorf("decoded: %v, %+v", err, got.Nodes[1].Stats)
	}
}

// A hidden region's place is taken by the region around: that is where the late thread was. Nobody
// waits at the hidden barrier any more.
func TestWaitsOfHiddenRegion(t *testing.T) {
	p := &Profile{Threads: make([]Thread, 1), Regions: []Region{{Construct: event.Parallel}, {Construct: event.Critical}},
		Nodes: []Node{{Parent: -1, Region: -1}, {Stats: []ThreadStats{{Exec: Sum{100, 1}, Waits: &Waits{Delay: 5}}}},
			{Parent: 1, Region: 1, Stats: []ThreadStats{{Exec: Sum{50, 1}, Waits: &Waits{Wait: Sum{7, 1}, Late: Sum{3, 1}, Delay: 40}}}}}}
	Hide(p, func(r *Region) bool { return r.Construct == event.Critical })
	if got, want := *p.Nodes[1].Stats[0].Waits, (Waits{Late: Sum{3, 1}, Delay: 45}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
