package profile

import (
	"reflect"
	"testing"
	"time"

	"ompp-attach/event"
)

// What was not observed between two snapshots is told by construct: the last kind of levels may get
// more names meanwhile.
func TestObservationsOfAWindow(t *testing.T) {
	of := event.LevelGroup(event.LevelKinds).Constructs()
	start := time.Unix(100, 0)
	at := func(after time.Duration, o Observation) *Profile {
		return &Profile{Meta: Meta{Life: Life{Start: start, SnapshotAt: start.Add(after), Duration: int64(after)}, Expense: Expense{Observations: []Observation{o}}},
			Nodes: []Node{{Parent: -1, Region: -1}}}
	}
	earlier := at(time.Second, Observation{Name: "level p", Of: of, Unobserved: 5, Sampled: 3, Gaps: 1, First: 7, Before: 2, Counted: 4})
	later := at(2*time.Second, Observation{Name: "levels a, p together", Of: of, Unobserved: 9, Sampled: 7, Gaps: 3, First: 7, Before: 2, Counted: 8})
	earlier.Meta.ToolTime, later.Meta.ToolTime = 3e8, 10e8
	w, err := Window(later, earlier)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Observation{{Name: "levels a, p together", Of: of, Unobserved: 4, Sampled: 4, Gaps: 2}}; !reflect.DeepEqual(w.Meta.Observations, want) {
		t.Errorf("%+v, want %+v", w.Meta.Observations, want)
	}
	if w.Meta.ToolTime != 7e8 {
		t.Errorf("the tool took %d ns between the two, want %d", w.Meta.ToolTime, int64(7e8))
	}
}
