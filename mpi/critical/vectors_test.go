package critical

import (
	"fmt"
	"maps"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// vector is a call in units of 1000 ns.
func vector(name string, start, end uint64, site int, set func(*match.Call)) match.Call {
	c := match.Call{Op: op(name), Start: 1000 * start, End: 1000 * end, Site: site, To: mpi.NoPeer, From: mpi.NoPeer, Sends: true, Receives: true}
	if set != nil {
		set(&c)
	}
	return c
}

func logsOf(ranks ...[]match.Call) (logs []*match.RankCalls) {
	for i, calls := range ranks {
		l := match.List(calls)
		logs = append(logs, &match.RankCalls{Rank: i, Comms: []match.Comm{{Name: "world", Size: int32(len(ranks)), Rank: int32(i)}}, Threads: []match.Calls{&l}})
	}
	return logs
}

func show(r *Result) map[string]int64 {
	out := map[string]int64{}
	for at, x := range r.Times {
		if x.Path != 0 {
			out[fmt.Sprintf("%d@%d %v", at.Rank, at.Site, at.In)] = x.Path / 1000
		}
	}
	if r.Unknown != 0 {
		out["unknown"] = r.Unknown / 1000
	}
	return out
}

// TestVectors: for each case, the path follows from the definition by hand.
func TestVectors(t *testing.T) {
	from := func(c *match.Call) { c.From, c.RecvTag, c.Sends = 1, 7, false }
	to := func(c *match.Call) { c.To, c.SendTag, c.Receives = 0, 7, false }
	takes := func(c *match.Call) { c.From, c.RecvTag, c.Sends, c.Completes = 1, 7, false, []uint64{5} }
	message := func(c *match.Call) { c.Sends, c.Completes = false, []uint64{5} }
	any := func(c *match.Call) { c.From, c.RecvTag, c.Sends = mpi.AnySource, 7, false }
	init := func(end uint64) match.Call { return vector("Barrier", 1, end, 0, nil) }
	for _, x := range []struct {
		name  string
		ranks [][]match.Call
		want  map[string]int64
	}{
		{"late sender", [][]match.Call{{init(2), vector("Recv", 3, 13, 1, from)}, {init(2), vector("Send", 9, 10, 1, to)}},
			map[string]int64{"1@0 true": 1, "1@1 false": 7, "0@1 true": 4}},
		{"a probe waits for a late sender", [][]match.Call{{init(2), vector("Probe", 3, 13, 1, from), vector("Recv", 14, 16, 2, from)}, {init(2), vector("Send", 9, 10, 1, to)}},
			map[string]int64{"1@0 true": 1, "1@1 false": 7, "0@1 true": 4, "0@2 false": 1, "0@2 true": 2}},
		{"a matched probe waits for a late sender", [][]match.Call{{init(2), vector("Mprobe", 3, 13, 1, takes), vector("Mrecv", 14, 16, 2, message)}, {init(2), vector("Send", 9, 10, 1, to)}},
			map[string]int64{"1@0 true": 1, "1@1 false": 7, "0@1 true": 4, "0@2 false": 1, "0@2 true": 2}},
		{"a sender waits for the receive of a message that was taken", [][]match.Call{{init(2), vector("Mprobe", 5, 6, 1, takes), vector("Mrecv", 15, 18, 2, message)}, {init(2), vector("Ssend", 3, 20, 1, to)}},
			map[string]int64{"0@0 true": 1, "0@1 false": 3, "0@1 true": 1, "0@2 false": 9, "1@1 true": 5}},
		{"a probe does not tell the source", [][]match.Call{{init(2), vector("Probe", 3, 13, 1, any), vector("Recv", 14, 16, 2, from)}, {init(2), vector("Send", 9, 10, 1, to)}},
			map[string]int64{"0@2 false": 1, "0@2 true": 2, "unknown": 12}},
		{"sender in time", [][]match.Call{{init(2), vector("Recv", 9, 13, 1, from)}, {init(2), vector("Send", 3, 4, 1, to)}},
			map[string]int64{"0@0 true": 1, "0@1 false": 7, "0@1 true": 4}},
		{"not known", [][]match.Call{{init(2), vector("Recv", 3, 13, 1, any), vector("Allreduce", 20, 21, 2, nil), vector("Barrier", 30, 31, 3, nil)},
			{init(2), vector("Send", 9, 10, 1, to), vector("Allreduce", 11, 21, 2, nil), vector("Barrier", 25, 31, 3, nil)}},
			map[string]int64{"0@2 false": 7, "0@2 true": 1, "0@3 false": 9, "0@3 true": 1, "unknown": 12}},
		{"a probe waits for nobody knows whom", [][]match.Call{{init(2), vector("Mprobe", 3, 13, 1, any), vector("Barrier", 30, 31, 3, nil)}, {init(2), vector("Barrier", 20, 31, 3, nil)}},
			map[string]int64{"0@3 false": 17, "0@3 true": 1, "unknown": 12}},
		{"a probe that does not wait", [][]match.Call{{init(2), vector("Improbe", 3, 13, 1, any), vector("Barrier", 30, 31, 3, nil)}, {init(2), vector("Barrier", 20, 31, 3, nil)}},
			map[string]int64{"0@0 true": 1, "0@1 false": 1, "0@1 true": 10, "0@3 false": 17, "0@3 true": 1}},
		{"not known, on another rank", [][]match.Call{{init(2), vector("Recv", 3, 13, 1, any), vector("Barrier", 20, 31, 3, nil)},
			{init(2), vector("Send", 9, 10, 1, to), vector("Barrier", 30, 31, 3, nil)}},
			// The send may have waited.
			map[string]int64{"1@3 false": 20, "0@3 true": 1, "unknown": 9}},
	} {
		r, _ := listen(logsOf(x.ranks...), nil)
		if got := show(r); !maps.Equal(got, x.want) {
			t.Errorf("%s: %v, not %v", x.name, got, x.want)
		}
	}
}
