package profile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// metaFields are the fields of a recorded profile's meta in their order. Profiles were recorded
// with these before Meta had groups.
var metaFields = []string{"program", "path", "args", "pid", "host", "kernel", "arch", "cpus", "quota", "start", "duration_ns", "user_ns", "sys_ns",
	"attached", "ended", "exit", "clock", "snapshot_at", "tool", "built", "runtimes", "hits", "lost_hits", "unmatched", "edges",
	"partial", "off", "stopped", "left_out", "mpi", "counters", "evaluators", "sampling", "budget", "sched", "observations",
	"overhead", "tool_ns", "has_tasks"}

// TestMetaIsFlat: the groups of Meta do not show in the recorded profile.
func TestMetaIsFlat(t *testing.T) {
	var m Meta
	setAll(reflect.ValueOf(&m).Elem())
	b, err := json.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil { // the brace
		t.Fatal(err)
	}
	var got []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, key.(string))
		if err := d.Decode(new(json.RawMessage)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(metaFields, got); diff != "" {
		t.Errorf("fields of meta: -want +got\n%s", diff)
	}
}

// setAll gives each field a value other than zero.
func setAll(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				setAll(f)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAll(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	}
}
