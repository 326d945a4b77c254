package reader_test

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// TestHandlesOfThreads: one thread's call takes a handle. Before it returns, another thread's call
// may be given the same handle, although that call began earlier.
func TestHandlesOfThreads(t *testing.T) {
	all := func(n uint64) match.Count { return match.Count{Calls: n, Matched: n} }
	anyOf := func(tag int32) func(*match.Call) { return from(mpi.AnySource, tag) }
	for name, c := range map[string]struct {
		first, second       []match.Call // of the receiver's threads
		sends               []match.Call
		want                string
		receives, completed match.Count
	}{
		"requests": {
			[]match.Call{call("Irecv", 0, 1, anyOf(7), as(9)), call("Wait", 12, 20, of(9), tells(came(0, 1, 7)))},
			[]match.Call{call("Irecv", 10, 19, anyOf(8), as(9)), call("Wait", 21, 30, of(9), tells(came(0, 1, 8)))},
			[]match.Call{call("Send", 14, 15, to(0, 7)), call("Send", 25, 26, to(0, 8))},
			"late sender 0@12<1@14 2 x1; late sender 0@21<1@25 4 x1; late sender done 0@12 5 x1; late sender done 0@21 4 x1", all(2), all(2)},
		"a test completed the second": {
			[]match.Call{call("Irecv", 0, 1, from(1, 7), as(9)), call("Wait", 12, 20, of(9))},
			[]match.Call{call("Irecv", 10, 19, from(1, 8), as(9)), call("Irecv", 22, 23, from(1, 9), as(9)), call("Wait", 24, 30, of(9))},
			[]match.Call{call("Send", 14, 15, to(0, 7)), call("Send", 16, 17, to(0, 8)), call("Send", 25, 26, to(0, 9))},
			"late sender 0@12<1@14 2 x1; late sender 0@24<1@25 1 x1; late sender done 0@12 5 x1; late sender done 0@24 4 x1", all(3), all(2)},
		"messages": {
			[]match.Call{call("Mprobe", 0, 1, from(1, 7), nothing, of(9)), call("Mrecv", 12, 20, anyOf(0), of(9))},
			[]match.Call{call("Mprobe", 2, 19, from(1, 8), nothing, of(9)), call("Mrecv", 31, 32, anyOf(0), of(9))},
			[]match.Call{call("Isend", 0, 1, to(0, 7), as(1)), call("Isend", 3, 4, to(0, 8), as(2)), call("Wait", 5, 22, of(1)), call("Wait", 25, 40, of(2))},
			"late sender 0@2<1@3 1 x1; late sender done 0@2 15 x1; late receiver 1@5<0@12 7 x1; late receiver 1@25<0@31 6 x1; late receiver done 1@5 2 x1; late receiver done 1@25 8 x1", all(2), all(2)},
	} {
		logs := world(c.first, c.sends)
		for i := range c.second {
			c.second[i].Thread = 1
		}
		second := match.List(c.second)
		logs[0].Threads = append(logs[0].Threads, &second)
		r := reader.Run(logs)
		if got := show(r.Waits); got != c.want || r.Receives != c.receives || r.Requests != c.completed {
			t.Errorf("%s: got  %s\nwant %s\n%+v", name, got, c.want, r)
		}
	}
}
