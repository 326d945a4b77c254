package attribution

import (
	"maps"
	"reflect"
	"sync"
	"unsafe"
)

// A copy of an engine is made by the engine's types, not field by field by hand: a field that
// somebody adds to the engine, and forgets here, would tie the copy to the engine. Fields
// tagged `copy:"-"` hold what is kept for reuse only, and are empty in the copy.

// Copy returns an engine in the same state, which asks another resolver: one of them can be
// finished, or fed, while the other goes on.
func (e *Engine) Copy(r Resolver) *Engine {
	c := copier{}
	out := c.pointed(reflect.ValueOf(e)).Interface().(*Engine)
	out.resolve = r
	return out
}

// copier copies what can be reached from a value, and keeps who points to whom.
type copier map[unsafe.Pointer]reflect.Value

// shape is what of a type a copier has to look at.
type shape struct {
	flat   bool  // values hold no pointers: an assignment copies them
	fields []int // of a struct: those that are not flat
	empty  []int // of a struct: those that a copy does without
}

var shapes sync.Map // reflect.Type to *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		s.flat = true // what is behind it is nobody's own
	case reflect.Array:
		s.flat = shapeOf(t.Elem()).flat
	case reflect.Struct:
		for i := range t.NumField() {
			switch f := t.Field(i); {
			case f.Tag.Get("copy") == "-":
				s.empty = append(s.empty, i)
			case !shapeOf(f.Type).flat:
				s.fields = append(s.fields, i)
			}
		}
		s.flat = len(s.fields)+len(s.empty) == 0
	default: // strings, too, do not change
		s.flat = true
	}
	shapes.Store(t, s)
	return s
}

// pointed copies what a pointer points to, once.
func (c copier) pointed(v reflect.Value) reflect.Value {
	at := v.UnsafePointer()
	if done, ok := c[at]; ok && done.Type() == v.Type() {
		return done
	}
	to := reflect.New(v.Type().Elem())
	c[at] = to
	to.Elem().Set(v.Elem())
	c.own(to.Elem())
	return to
}

// own makes what a value points to the value's own. It is addressable, and a copy of another
// one's up to here.
func (c copier) own(v reflect.Value) {
	s := shapeOf(v.Type())
	if s.flat {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			v.Set(c.pointed(v))
		}
	case reflect.Slice:
		c.ownSlice(v)
	case reflect.Map:
		c.ownMap(v)
	case reflect.Array:
		for i := range v.Len() {
			c.own(v.Index(i))
		}
	case reflect.Struct:
		for _, i := range s.fields {
			c.own(open(v.Field(i)))
		}
		for _, i := range s.empty {
			open(v.Field(i)).SetZero()
		}
	}
}

func (c copier) ownSlice(v reflect.Value) {
	if v.IsNil() {
		return
	}
	to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(to, v)
	if !shapeOf(v.Type().Elem()).flat {
		for i := range to.Len() {
			c.own(to.Index(i))
		}
	}
	v.Set(to)
}

func (c copier) ownMap(v reflect.Value) {
	if v.IsNil() {
		return
	}
	switch m := v.Addr().Interface().(type) { // those that grow large
	case *sums:
		*m = maps.Clone(*m)
		return
	case *map[string]int32:
		*m = maps.Clone(*m)
		return
	}
	t := v.Type()
	to := reflect.MakeMapWithSize(t, v.Len())
	key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
	for it := v.MapRange(); it.Next(); {
		key.SetIterKey(it)
		value.SetIterValue(it)
		c.own(key)
		c.own(value)
		to.SetMapIndex(key, value)
	}
	v.Set(to)
}

// open returns a field that other packages must not set, so that it can be.
func open(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}
