package efficiency

import (
	"fmt"

	"ompp-attach/model"
)

// Predict learns from the runs of a scaling. Times are in seconds. It fails if the ranks of a run have
// different numbers of threads.
func (s *Scaling) Predict() (*model.Prediction, error) {
	var points []model.Point
	for i := range s.Runs {
		x := &s.Runs[i]
		if x.PerRank == 0 {
			return nil, fmt.Errorf("the ranks of %s have different numbers of threads: predict needs runs of as many threads on each rank", x.Label)
		}
		points = append(points, x.point())
	}
	return model.Predict(points, s.Weak), nil
}

// point returns the means of the run's ranks. In limited parallelism, all threads but one wait for
// the one that works.
func (x *Scaled) point() model.Point {
	p := model.Point{Ranks: x.Ranks, Threads: x.PerRank, Time: float64(x.Runtime) / 1e9}
	whole := x.Whole()
	each := func(parts ...Part) (sum float64) {
		for _, part := range parts {
			sum += float64(whole[part]) / 1e9 / float64(x.Ranks)
		}
		return sum
	}
	p.Serial, p.Work = each(Serial, SerialWait), each(Work)
	p.Uneven, p.Overhead = each(Imbal, Synch, TeamIdle), each(Mgmt)/float64(x.PerRank)
	if x.PerRank > 1 {
		p.Unparallel = each(Limpar) / float64(x.PerRank-1)
	}
	for i := range x.Processes {
		p.MPI += float64(x.Processes[i].Wall-x.Processes[i].OutMPI) / 1e9 / float64(x.Ranks)
	}
	return p
}
