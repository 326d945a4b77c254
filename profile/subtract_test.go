package profile

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was added can be taken away again, whatever field it is in.
func TestSubtractForgetsNothing(t *testing.T) {
	var from, more ThreadStats
	next := int64(0)
	fill(reflect.ValueOf(&from).Elem(), &next)
	fill(reflect.ValueOf(&more).Elem(), &next)
	more.Thread = from.Thread
	for _, m := range []*MPIStats{from.MPI, from.Calls, more.MPI, more.Calls} {
		m.Min, m.Max = from.MPI.Min, from.MPI.Max // extremes cannot be taken apart
	}
	more.Estimate.CountError, more.Estimate.TimeError = 0, 0 // nor can errors
	for _, e := range more.Ends.each() {
		e.Variance = 0
	}
	sum := from
	sum.Add(&more)
	before := sum
	sum.Subtract(&more)
	if d := cmp.Diff(from, sum); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if before.Exec.T != from.Exec.T+more.Exec.T || before.MPI.T != from.MPI.T+more.MPI.T {
		t.Error("taking away changed what it was taken from")
	}
	sum.Subtract(&from)
	sum.Estimate = nil
	if !sum.empty() {
		t.Errorf("some figures less themselves are %+v", sum)
	}
}
