package job

import (
	"math"
	"testing"

	"ompp-attach/efficiency"
)

// TestEfficiency is the paper's toy example. Ranks 1 and 3 wait in the loop, and the others in MPI.
func TestEfficiency(t *testing.T) {
	j := read(t, sources(t, toyJob(0, 100*ms, 0, 100*ms)), Options{})
	run := j.Efficiency()
	whole := run.Whole()
	if got, want := whole.Sum(), run.Runtime*int64(run.Threads()); got != want || run.Threads() != 16 {
		t.Fatalf("the parts add up to %d, want %d; %d threads", got, want, run.Threads())
	}
	if whole[efficiency.Imbal] != 2*3*100*ms {
		t.Errorf("imbalance %d", whole[efficiency.Imbal])
	}
	if want := 2*10*ms + 2*110*ms; whole[efficiency.MPI] != want {
		t.Errorf("MPI %d, want %d", whole[efficiency.MPI], want)
	}
	if most, _ := run.Most(efficiency.Imbal); most == nil || j.Regions[most.Number-1].Location.Begin != 12 {
		t.Errorf("imbalance names %+v", most)
	}
	var team efficiency.Parts
	for _, g := range run.Regions {
		team.Add(&g.Team)
	}
	if math.Abs(team.Efficiency()-float64(whole[efficiency.Work])/float64(team.Sum())) > 1e-9 {
		t.Errorf("region: %g", team.Efficiency())
	}
	// Without the regions of single calls nothing is lost but their names.
	classic := read(t, sources(t, toyJob(0, 100*ms, 0, 100*ms)), Options{Classic: true}).Efficiency()
	if classic.Whole() != whole {
		t.Errorf("classic: %v, want %v", classic.Whole(), whole)
	}
}
