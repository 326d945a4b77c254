package profile

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fill sets all numbers that can be reached from a value, each to a different number.
func fill(v reflect.Value, next *int64) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Bool:
		v.SetBool(true)
	default:
		*next++
		v.Set(reflect.ValueOf(*next).Convert(v.Type()))
	}
}

// TestAddForgetsNothing fails if ThreadStats gets a field that Add does not add.
func TestAddForgetsNothing(t *testing.T) {
	var from ThreadStats
	next := int64(0)
	fill(reflect.ValueOf(&from).Elem(), &next)
	var sum ThreadStats
	sum.Add(&from)
	sum.Thread = from.Thread
	if d := cmp.Diff(from, sum); d != "" {
		t.Errorf("nothing and some figures are not those figures: -want +got\n%s", d)
	}
	before := sum
	sum.Add(&from)
	if d := cmp.Diff(before, from); d != "" {
		t.Errorf("adding changed what was added: %s", d)
	}
	if sum.Exec.T != 2*from.Exec.T || sum.Cost.Task != 2*from.Cost.Task || sum.TakenOut != 2*from.TakenOut {
		t.Errorf("twice some figures is not their double: %+v", sum)
	}
}
