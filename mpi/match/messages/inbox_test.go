package messages_test

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
)

// TestAllTaken: receives from any source do not tell which messages they took. Once all sent
// messages have been received, later messages are matched again.
func TestAllTaken(t *testing.T) {
	any := from(mpi.AnySource, 7)
	wait := call("Waitall", 6, 20, of(1, 2))
	logs := func(receiver []match.Call, more ...match.Call) []*match.RankCalls {
		return world(append([]match.Call{call("Irecv", 0, 1, any, as(1)), call("Irecv", 1, 2, any, as(2))}, receiver...),
			append([]match.Call{call("Send", 3, 4, to(0, 7))}, more...), []match.Call{call("Send", 10, 11, to(0, 7))})
	}
	last := []match.Call{wait, call("Recv", 30, 45, from(1, 7))}
	later := call("Send", 40, 41, to(0, 7))
	for name, c := range map[string]struct {
		logs    []*match.RankCalls
		spoil   func([]*match.RankCalls)
		matched uint64
	}{
		"all taken":          {logs(last, later), nil, 1},
		"sent too early":     {logs(last, call("Send", 19, 20, to(0, 7))), nil, 0},
		"not complete":       {logs([]match.Call{call("Wait", 6, 20, of(1)), last[1]}, later), nil, 0},
		"complete too late":  {logs([]match.Call{call("Waitall", 6, 31, of(1, 2)), call("Recv", 32, 45, from(1, 7))}, call("Send", 30, 41, to(0, 7))), nil, 0},
		"one more was sent":  {logs(last, call("Send", 5, 6, to(0, 7)), later), nil, 0},
		"and received later": {logs([]match.Call{wait, last[1], call("Recv", 50, 52, from(1, 7)), call("Recv", 60, 70, from(1, 7))}, call("Send", 5, 6, to(0, 7)), later, call("Send", 65, 66, to(0, 7))), nil, 1},
		"a probe takes":      {logs([]match.Call{wait, call("Mprobe", 30, 45, from(1, 7)), call("Recv", 50, 60, from(1, 7))}, later, call("Send", 55, 56, to(0, 7))), nil, 1},
		"a probe may take":   {logs([]match.Call{wait, call("Improbe", 30, 45, from(1, 7)), call("Recv", 50, 60, from(1, 7))}, later, call("Send", 55, 56, to(0, 7))), nil, 0},
		"no log of a rank":   {logs(last, later), func(l []*match.RankCalls) { l[2].Comms = nil }, 0},
		"a log was cut":      {logs(last, later), func(l []*match.RankCalls) { l[2].Until = 1 << 40 }, 0},
		"another machine":    {logs(last, later), func(l []*match.RankCalls) { l[2].Host = "far" }, 0},
	} {
		if c.spoil != nil {
			c.spoil(c.logs)
		}
		r := matchtest.Run(c.logs)
		if r.Receives.Matched != c.matched || r.Sends.Matched != c.matched {
			t.Errorf("%s: %+v, %+v", name, r.Sends, r.Receives)
		}
		if want := "late sender 0@30<1@40 10 x1; late sender done 0@30 4 x1"; name == "all taken" && show(r.Waits) != want {
			t.Errorf("%s: %s", name, show(r.Waits))
		}
	}
}
