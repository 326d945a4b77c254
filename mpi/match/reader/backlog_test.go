package reader_test

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// TestCountBack: messages of attached ranks are counted back from MPI_Finalize, unless some of the
// messages are not known.
func TestCountBack(t *testing.T) {
	end := call("Finalize", 90, 91)
	sends := func(at ...uint64) (out []match.Call) {
		for _, t := range at {
			out = append(out, call("Bsend", t, t+1, to(1, 7)))
		}
		return append(out, end)
	}
	recvs := func(times ...uint64) (out []match.Call) {
		for i := 0; i < len(times); i += 2 {
			out = append(out, call("Recv", times[i], times[i+1], from(0, 7)))
		}
		return append(out, end)
	}
	// from0 changes the first call.
	from0 := func(set func(*match.Call), calls []match.Call) []match.Call {
		set(&calls[0])
		return calls
	}
	started := call("Start", 5, 5, as(9))
	started.Later, started.Untold = true, true
	launched := func(l *match.RankCalls) { l.Attached, l.Comms[0].Old = false, false }
	for _, c := range []struct {
		name           string
		sender, recver []match.Call
		change         func(logs []*match.RankCalls)
		waits          string
		why            match.Reason // why the first receive was not matched; NumReasons: it was
	}{
		{"one was on its way when the sender was attached to", sends(30, 50), recvs(10, 12, 20, 31, 40, 51), nil, "late sender 1@20<0@30 10 x1; late sender 1@40<0@50 10 x1", match.NotYet},
		{"one was received before the receiver was attached to", sends(10, 30, 50), recvs(20, 31, 40, 51), nil, "late sender 1@20<0@30 10 x1; late sender 1@40<0@50 10 x1", match.NumReasons},
		{"the sender was launched", sends(10, 30, 50), recvs(20, 31, 40, 51), func(l []*match.RankCalls) { launched(l[0]) }, "late sender 1@20<0@30 10 x1; late sender 1@40<0@50 10 x1", match.NumReasons},
		{"the last one was never received", sends(30, 80), recvs(20, 31), nil, "", match.OldComm},
		{"not measured to the end", sends(30, 50), recvs(20, 31, 40, 51)[:2], nil, "", match.OldComm},
		{"a log ends early", sends(30, 50), recvs(20, 31, 40, 51), func(l []*match.RankCalls) { l[0].Until = 89_000 }, "", match.OldComm},
		{"requests were cancelled", sends(30, 50), recvs(20, 31, 40, 51), func(l []*match.RankCalls) { l[1].Cancels = true }, "", match.Cancelled},
		{"it is not known what was started", append([]match.Call{started}, sends(30, 50)...), recvs(20, 31, 40, 51), nil, "", match.OldComm},
		{"a receive does not tell its tag", sends(30, 50), from0(func(c *match.Call) { c.RecvTag = match.AnyTag }, recvs(20, 31, 40, 51)), nil, "", match.Wildcard},
		{"a receive of another message does not tell its tag", append([]match.Call{call("Bsend", 3, 4, to(1, 9))}, sends(30, 50)...), append([]match.Call{call("Recv", 5, 6, from(0, match.AnyTag))}, recvs(20, 31, 40, 51)...), nil, "", match.Wildcard},
		{"a receive of another tag does not tell from whom", append([]match.Call{call("Bsend", 5, 6, to(1, 8))}, sends(30, 50)...), append([]match.Call{call("Recv", 3, 7, from(mpi.AnySource, 8))}, recvs(20, 31, 40, 51)...), nil,
			"late sender 1@20<0@30 10 x1; late sender 1@40<0@50 10 x1", match.Wildcard},
		{"a receive from another rank does not tell its tag", sends(30, 50), append([]match.Call{call("Bsend", 3, 4, to(1, 7)), call("Recv", 5, 6, from(1, match.AnyTag))}, recvs(20, 31, 40, 51)...), nil,
			"late sender 1@20<0@30 10 x1; late sender 1@40<0@50 10 x1", match.Wildcard},
		{"a receive from any rank does not tell its tag", sends(30, 50), append([]match.Call{call("Bsend", 3, 4, to(1, 9)), call("Recv", 5, 6, from(mpi.AnySource, match.AnyTag))}, recvs(20, 31, 40, 51)...), nil, "", match.Wildcard},
		{"a receive tells its tag later", sends(30, 50), append([]match.Call{call("Irecv", 10, 11, from(mpi.AnySource, match.AnyTag), as(4)),
			call("Wait", 20, 31, of(4), func(c *match.Call) { c.Came = []match.Came{came(0, 0, 7)} })}, recvs(40, 51)...), nil, "late sender 1@20<0@30 10 x1; late sender 1@40<0@50 10 x1", match.NumReasons},
		{"another tag", append([]match.Call{call("Bsend", 5, 6, to(1, 8))}, sends(30)...), append([]match.Call{call("Recv", 3, 4, from(0, 8)), call("Recv", 4, 7, from(0, 8))}, recvs(20, 31)...), nil,
			"late sender 1@4<0@5 1 x1; late sender 1@20<0@30 10 x1", match.NotYet},
	} {
		logs := func() []*match.RankCalls {
			logs := anew(c.sender, c.recver)()
			if c.change != nil {
				c.change(logs)
			}
			return logs
		}
		b, all := reader.CountBack(logs), logs()
		for _, l := range all {
			l.Backlog = b
		}
		r := reader.Run(all)
		left := r.Receives.Left[match.NumReasons-1:] // none, if all were matched
		if c.why < match.NumReasons {
			left = r.Receives.Left[c.why : c.why+1]
		}
		var late []match.Wait
		for _, w := range r.Waits {
			if w.Property == match.LateSender {
				late = append(late, w)
			}
		}
		if got := show(late); got != c.waits || left[0] == 0 != (c.why == match.NumReasons) || r.Receives.Matched != uint64(len(late)) {
			t.Errorf("%s: %s, %+v", c.name, got, r.Receives)
		}
	}
	if reader.CountBack(func() []*match.RankCalls { return world(sends(10), recvs(5, 11)) }) != nil {
		t.Error("all ranks were launched")
	}
}
