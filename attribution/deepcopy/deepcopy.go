// Package deepcopy copies everything that a value reaches, by reflection on its types. Code that
// copies field by field could forget a field that is added later, and then the copy would share it
// with the original. Fields tagged `copy:"-"` hold memory for reuse only, and are empty in the
// copy.
package deepcopy

import (
	"maps"
	"reflect"
	"sync"
	"unsafe"
)

// Map is a map without pointers that replaces itself by a copy, faster than by reflection.
type Map interface{ Own() }

// Of returns a copy of v. Pointers to one value become pointers to one copy of it. Interfaces,
// functions and channels are shared. No pointer may point into the middle of another value.
func Of[T any](v *T) *T { return copier{}.pointed(reflect.ValueOf(v)).Interface().(*T) }

// copier copies all values that can be reached from a value, and keeps pointers to one value
// pointers to one copy.
type copier map[unsafe.Pointer]reflect.Value

// shape describes how a copier has to treat a type.
type shape struct {
	flat   bool  // values hold no pointers: an assignment copies them
	fields []int // of a struct: the fields that are not flat
	empty  []int // of a struct: the fields that stay empty in a copy
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
		s.flat = true // a resolver, for example, is shared, not copied
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
	default: // strings too: they never change
		s.flat = true
	}
	shapes.Store(t, s)
	return s
}

// pointed copies the value that a pointer points to, once per pointer.
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

// own replaces all memory that v shares with the original by copies. v must be addressable; it is a
// plain assignment of the original.
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
	switch m := v.Addr().Interface().(type) { // maps that grow large and hold no pointers
	case Map:
		m.Own()
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

// open makes an unexported field settable by reflection.
func open(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}
