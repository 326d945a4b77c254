package handles

import (
	"errors"
	"strings"
	"testing"

	"ompp-attach/mpi"
)

// These are formulas of one case: a constant, the handle less a bias, nothing.
func says(n int64) mpi.Formula {
	return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepConst, Value: n}}}}
}

var saysNothing = mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepLoad8}}}}

// The check accepts possible answers and names impossible ones.
func TestCheck(t *testing.T) {
	unreadable := func(uint64, int) (uint64, error) { return 0, errors.New("not mapped") }
	sound := func() Formulas {
		return Formulas{Initialized: says(1), World: says(7), CommSize: says(4), CommRank: says(3), CommIsInter: says(0),
			// The size is how far the handle lies above the base.
			TypeSize: mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepBase}, {Op: mpi.StepMul, Value: -1}, {Op: mpi.StepSave}, {Op: mpi.StepHandle}, {Op: mpi.StepAddSaved}}}},
			known:    []predefined{{"type of 8", 8, true, 8}}}
	}
	for _, c := range []struct {
		name   string
		change func(*Formulas)
		want   string // in the error; "": none
	}{
		{"sound", func(*Formulas) {}, ""},
		{"an own process", func(f *Formulas) { f.CommSize, f.CommRank = says(1), says(0) }, ""},
		{"as many as there can be", func(f *Formulas) { f.CommSize = says(mostRanks) }, ""},
		{"not initialised", func(f *Formulas) { f.Initialized = says(0) }, ErrNotInitialized.Error()},
		{"not known whether initialised", func(f *Formulas) { f.Initialized = saysNothing }, ""},
		{"a wrong size of a type", func(f *Formulas) { f.known[0].size = 4 }, "type of 8: 8 instead of 4"},
		{"a size at no address of its own", func(f *Formulas) { f.known[0].biased = false }, "instead of 8"},
		{"no size of a type", func(f *Formulas) { f.TypeSize, f.known[0].size = saysNothing, 0 }, "type of 8: nothing instead of 0"},
		{"no world", func(f *Formulas) { f.World = saysNothing }, "cannot be read"},
		{"an empty world", func(f *Formulas) { f.CommSize = says(0) }, "size of MPI_COMM_WORLD: 0"},
		{"an enormous world", func(f *Formulas) { f.CommSize = says(mostRanks + 1) }, "size of MPI_COMM_WORLD: 67108865"},
		{"a rank outside", func(f *Formulas) { f.CommRank = says(4) }, "rank in MPI_COMM_WORLD: 4 of 4"},
		{"no rank", func(f *Formulas) { f.CommRank = saysNothing }, "rank in MPI_COMM_WORLD: nothing of 4"},
		{"an inter-communicator", func(f *Formulas) { f.CommIsInter = says(1) }, "inter-communicator: 1"},
		{"not known whether it is one", func(f *Formulas) { f.CommIsInter = saysNothing }, "inter-communicator: nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sound()
			c.change(&f)
			err := f.Check(0x5000, unreadable)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
