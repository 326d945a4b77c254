package advice

import (
	"testing"

	"ompp-attach/event"
)

// Events of probes in the program's own code name no library. This also holds where places that
// call two libraries of one kind tell the libraries apart.
func TestCallersOfTwins(t *testing.T) {
	u := NewUsage()
	u.Add(1, event.Gomp, "/a/libgomp.so.1")
	u.Add(2, event.Gomp, "/b/libgomp.so.1")
	u.Feed(&event.Event{Site: 0x1000, Instance: 3, Construct: event.Loop, Edge: event.Open, Runtime: event.Gomp})
	u.Feed(&event.Event{Site: 0x2000, Instance: 2, Construct: event.Barrier, Edge: event.Wait, Runtime: event.Gomp})
	if label, ok := u.RuntimeAt(event.Gomp, 0x1000); ok {
		t.Errorf("a loop of the program's own code is of %s", label)
	}
	if _, ok := u.RuntimeAt(event.Gomp, 0x2000); !ok {
		t.Error("the library of a barrier is not known")
	}
}
