package matchtest

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// Untell turns some nonblocking receives of a model into receives from any source, or of any tag.
// The calls that wait for them tell which message came if told returns true. Untell returns how
// many tell their messages, and how many do not.
func (m *Model) Untell(told func() bool) (tell, not int) {
	for _, e := range m.Events {
		c := m.Of(e)
		if e.Kind != pattern.Message || e.Send || !c.Later || m.Rand.IntN(3) > 0 {
			continue
		}
		came := match.Came{From: c.From, Tag: c.RecvTag}
		if !told() {
			not++
		} else if e.Wait < 0 {
			continue
		} else {
			tell++
			w := &m.Calls[e.Rank][e.Wait]
			for came.At = range w.Completes {
				if w.Completes[came.At] == c.Request {
					break
				}
			}
			i := 0
			for i < len(w.Came) && w.Came[i].At < came.At {
				i++
			}
			w.Came = append(w.Came[:i], append([]match.Came{came}, w.Came[i:]...)...)
		}
		if m.Rand.IntN(3) > 0 {
			c.From = mpi.AnySource
		}
		if c.From != mpi.AnySource || m.Rand.IntN(3) == 0 {
			c.RecvTag = match.AnyTag
		}
	}
	return tell, not
}
