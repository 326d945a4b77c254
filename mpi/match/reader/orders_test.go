package reader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// TestOrders: each order of events on two machines that is certain is told, and no other. A rank
// cannot have left an operation before the ranks had come that it needs. For a collective
// operation, orders are told between each machine and the machine of the root, or of the lowest
// rank.
func TestOrders(t *testing.T) {
	// Rank 0 begins at 1, and leaves at 11.
	each := func(name string, set ...func(*match.Call)) [][]match.Call {
		var calls [][]match.Call
		for rank := range uint64(4) {
			calls = append(calls, []match.Call{call(name, 1+rank, 11+rank, set...)})
		}
		return calls
	}
	later := each("Ibarrier", as(1))
	for rank, calls := range later {
		later[rank] = append(calls, call("Wait", 20, 30+uint64(rank), of(1)))
	}
	for _, c := range []struct {
		name, hosts string // of each rank
		calls       [][]match.Call
		want        string
	}{
		{"a barrier", "abab", each("Barrier"), "2@3<1@12 3@4<0@11"},
		{"of one machine", "aaaa", each("Barrier"), ""},
		{"of three machines", "abca", each("Barrier"), "1@2<0@11 2@3<0@11 3@4<1@12 3@4<2@13"},
		{"a broadcast", "abab", each("Bcast", root(0)), "0@1<1@12"},
		{"a broadcast from another machine", "abab", each("Bcast", root(1)), "1@2<0@11"},
		{"a broadcast to two machines", "abca", each("Bcast", root(1)), "1@2<0@11 1@2<2@13"},
		{"a reduction", "abab", each("Reduce", root(0)), "3@4<0@11"},
		{"a reduction on another machine", "abab", each("Reduce", root(1)), "2@3<1@12"},
		{"a scan", "abab", each("Scan"), "0@1<1@12 1@2<2@13"},
		// Each rank that waits needs all others.
		{"a nonblocking barrier", "abab", later, "2@3<1@31 2@3<3@33 3@4<0@30 3@4<2@32"},
		{"a message", "ab", [][]match.Call{{call("Send", 1, 9, to(1, 7))}, {call("Recv", 4, 10, from(0, 7))}}, "0@1<1@10"},
		{"a message back", "ab", [][]match.Call{{call("Recv", 4, 10, from(1, 7))}, {call("Send", 1, 9, to(0, 7))}}, "1@1<0@10"},
		{"a message of one machine", "aa", [][]match.Call{{call("Send", 1, 9, to(1, 7))}, {call("Recv", 4, 10, from(0, 7))}}, ""},
	} {
		logs := world(c.calls...)
		for rank, l := range logs {
			l.Host = c.hosts[rank : rank+1]
		}
		var told []string
		reader.Orders(logs, func(first *match.RankCalls, at uint64, then *match.RankCalls, by uint64) {
			told = append(told, fmt.Sprintf("%d@%d<%d@%d", first.Rank, at/1000, then.Rank, by/1000))
		})
		slices.Sort(told)
		if got := strings.Join(told, " "); got != c.want {
			t.Errorf("%s: told %s, want %s", c.name, got, c.want)
		}
	}
}
