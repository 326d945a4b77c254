package matchtest

import (
	"fmt"
	"slices"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// WithoutWindows takes out the calls on windows: the model's windows are older than the attachment.
func (m *Model) WithoutWindows() {
	for rank := range m.Calls {
		for i := range m.Calls[rank] {
			if c := &m.Calls[rank][i]; match.IsEpoch(c.Op) || match.IsLock(c.Op) {
				c.Comm = -1
			}
		}
	}
	m.Events = slices.DeleteFunc(m.Events, func(e *Event) bool {
		return e.Kind >= pattern.Posting && e.Kind <= pattern.Exposed || e.Kind == pattern.Locking
	})
}

// AttachedLogs returns the logs of the ranks, from the moments on at which they were attached to.
func (m *Model) AttachedLogs() (logs []*match.RankCalls) {
	for rank, calls := range m.Calls {
		from := slices.IndexFunc(calls, func(c match.Call) bool { return c.Start >= m.Since[rank] })
		if from < 0 {
			from = len(calls)
		}
		calls = slices.Clone(calls[from:])
		if m.Counted(rank) {
			calls = append(calls, match.Call{Op: Op("Finalize"), Start: m.Now[rank], End: m.Now[rank] + 1, Site: -rank, To: mpi.NoPeer, From: mpi.NoPeer})
		}
		logs = append(logs, Attached(LogOf(rank, len(m.Calls), calls...)))
	}
	return logs
}

// Shift returns "" if the logs begin with the operations that starts tell. Otherwise it says what
// differs.
func (m *Model) Shift(starts []match.Start) string {
	var shifts []int
	for rank, s := range starts {
		n := 0
		for i := range m.Calls[rank] {
			if c := &m.Calls[rank][i]; c.Start < m.Since[rank] && match.IsCollective(c.Op) {
				n++
			}
		}
		if s.Known {
			shifts = append(shifts, int(s.First)-n)
		}
	}
	if len(shifts) > 0 && slices.Max(shifts) != slices.Min(shifts) {
		return fmt.Sprintf("%v: wrong by %v", starts, shifts)
	}
	return ""
}

// CheckAttached compares how many calls were matched with how many should be.
func (m *Model) CheckAttached(t *testing.T, r *match.Result) {
	t.Helper()
	var messages, paired, collectives, matched uint64
	for _, e := range m.Events {
		switch {
		case !m.Seen(e.Rank, e.Begin):
		case e.Kind == pattern.Message, e.Kind == pattern.Probing:
			if messages++; m.Matched(e) {
				paired++
			}
		default:
			collectives++
			if m.Matched(e) {
				matched++
			}
		}
	}
	var ends uint64 // calls of MPI_Finalize
	for rank := range m.Calls {
		if m.Counted(rank) {
			ends++
		}
	}
	collectives += ends
	if ends == uint64(len(m.Calls)) {
		matched += ends
	}
	if n := r.Collectives; n.Calls != collectives || n.Matched != matched {
		t.Fatalf("%+v: not %d of %d", n, matched, collectives)
	}
	got := [2]uint64{} // left, matched
	for _, n := range []*match.Count{&r.Sends, &r.Receives, &r.Probes} {
		got[0], got[1] = got[0]+n.Left[match.OldComm]+n.Left[match.NotYet], got[1]+n.Matched
	}
	if want := [2]uint64{messages - paired, paired}; got != want {
		t.Fatalf("messages %d, not %d", got, want)
	}
}
