// Package mpicall holds what an MPI call tells of itself: its figures, its messages, and the
// communicators and windows that calls name.
package mpicall

import (
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Figures returns the figures of a call, except its time.
func Figures(c *event.MPICall) (s profile.MPIStats) {
	op, started := c.Op.Info(), c.Flags&mpi.Started != 0
	if !started {
		s.Calls = 1
	}
	s.Sends, s.Recvs, s.Colls = c.Op.Counted(&c.Args)
	switch {
	case op.Kind == mpi.Time || op.Kind == mpi.Start:
	case op.Persistent && !started: // preparing a persistent operation moves no data
	case c.Flags&mpi.UnknownVolume != 0:
		s.Unknown = 1
	default:
		s.Sized = 1
		for by := range mpi.NumAccountings {
			v := c.Op.Volume(&c.Args, by)
			s.Out[by], s.In[by], s.Read, s.Written = v.Out, v.In, v.Read, v.Written
			s.Min[by] = v.Out + v.In + v.Read + v.Written
			s.Max[by] = s.Min[by]
		}
	}
	return s
}
