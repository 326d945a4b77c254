package windows_test

import (
	"testing"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
)

// TestEpochs are epochs whose waits follow from the definitions.
func TestEpochs(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks [][]match.Call
		want  string
	}{
		{"late post, start waits", [][]match.Call{{call("Win_start", 0, 6, with(1, 2)), call("Win_complete", 7, 8)},
			{call("Win_post", 3, 4, with(0)), call("Win_wait", 5, 9)}, {call("Win_post", 5, 6, with(0)), call("Win_wait", 8, 9)}},
			"late post 0@0<2@5 5 x1; early wait 1@5<0@7 2 x1"},
		{"late post, complete waits", [][]match.Call{{call("Win_start", 0, 1, with(1)), call("Win_complete", 2, 8)}, {call("Win_post", 6, 7, with(0)), call("Win_wait", 7, 9)}},
			"late post 0@2<1@6 4 x1"},
		{"late post that nobody waits for", [][]match.Call{{call("Win_start", 0, 1, with(1)), call("Win_complete", 2, 3)}, {call("Win_post", 6, 7, with(0)), call("Win_wait", 7, 9)}}, ""},
		{"early wait for the last of two", [][]match.Call{{call("Win_post", 0, 1, with(1, 2)), call("Win_wait", 2, 12)},
			{call("Win_start", 3, 4, with(0)), call("Win_complete", 6, 7)}, {call("Win_start", 3, 4, with(0)), call("Win_complete", 10, 11)}},
			"early wait 0@2<2@10 8 x1"},
		{"both sides, everyone", [][]match.Call{
			{call("Win_post", 0, 1, with(match.Everyone)), call("Win_start", 2, 9, with(match.Everyone)), call("Win_complete", 10, 11), call("Win_wait", 12, 16)},
			{call("Win_post", 7, 8, with(match.Everyone)), call("Win_start", 8, 9, with(match.Everyone)), call("Win_complete", 13, 14), call("Win_wait", 14, 15)}},
			"late post 0@2<1@7 5 x1; early wait 0@12<1@13 1 x1"},
		{"a test ended the exposure", [][]match.Call{{call("Win_post", 0, 1, with(1)), call("Win_test", 4, 5), call("Win_post", 6, 7, with(1)), call("Win_wait", 8, 11)},
			{call("Win_start", 1, 2, with(0)), call("Win_complete", 3, 4), call("Win_start", 4, 7, with(0)), call("Win_complete", 9, 10)}},
			"late post 1@4<0@6 2 x1; early wait 0@8<1@9 1 x1"},
		{"for nobody", [][]match.Call{{call("Win_post", 0, 1, with()), call("Win_start", 1, 2, with()), call("Win_complete", 2, 3), call("Win_wait", 4, 5)}}, ""},
		{"posted ahead", [][]match.Call{{call("Win_post", 0, 1, with(1)), call("Win_wait", 2, 5)}, {call("Win_start", 3, 4, with(0)), call("Win_complete", 4, 5)}},
			"early wait 0@2<1@4 2 x1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := matchtest.Run(world(c.ranks...))
			if got := show(r.Waits); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if r.Epochs.Calls == 0 || r.Epochs.Calls != r.Epochs.Matched {
				t.Errorf("not all matched: %+v", r)
			}
		})
	}
}

func unknownGroup(c *match.Call) { c.Untold = true }

// TestEpochsNotMatched: what is not known gives no wait, and earlier epochs keep theirs.
func TestEpochsNotMatched(t *testing.T) {
	post := func(at uint64, set func(*match.Call)) []match.Call {
		return []match.Call{call("Win_post", at, at+1, set), call("Win_wait", at+2, at+9)}
	}
	access := func(at uint64, set func(*match.Call)) []match.Call {
		return []match.Call{call("Win_start", at, at+1, set), call("Win_complete", at+6, at+7)}
	}
	twice := func(of func(uint64, func(*match.Call)) []match.Call, first, second func(*match.Call)) []match.Call {
		return append(of(0, first), of(20, second)...)
	}
	const one = "early wait 1@2<0@6 4 x1"
	stopped := func(logs []*match.RankCalls, rank int, us uint64) []*match.RankCalls {
		logs[rank].Until = us * 1000
		return logs
	}
	for _, c := range []struct {
		name string
		logs []*match.RankCalls
		why  match.Reason
		left uint64
		want string
	}{
		{"the group of a start is not known", world(twice(access, with(1), unknownGroup), twice(post, with(0), with(0))), match.NoGroup, 4, one},
		{"the group of a post is not known", world(twice(access, with(1), with(1)), twice(post, with(0), unknownGroup)), match.NoGroup, 4, one},
		{"nor are later ones", world(twice(access, unknownGroup, with(1)), twice(post, with(0), with(0))), match.NoGroup, 8, ""},
		{"nor those of a post", world(twice(access, with(1), with(1)), twice(post, unknownGroup, with(0))), match.NoGroup, 8, ""},
		{"a group of an unknown communicator", world(access(0, func(c *match.Call) { c.Completes = []uint64{match.Member(3, 1)} }), post(0, with(0))), match.NoGroup, 4, ""},
		{"a rank without a log", world(access(0, with(1)), post(0, with(0)))[:1], match.NoLog, 2, ""},
		{"the other side never comes", world(access(0, with(1)), nil), match.NoPartner, 2, ""},
		{"nobody starts", world(nil, post(0, with(0))), match.NoPartner, 2, ""},
		{"the log ends before the complete", stopped(world(access(0, with(1)), post(0, with(0))), 0, 5), match.NoPartner, 1, ""},
		{"an epoch that was not opened", world([]match.Call{call("Win_complete", 5, 6), call("Win_wait", 7, 8)}), match.NoPartner, 2, ""},
		{"no window", world([]match.Call{call("Win_start", 5, 6, with(0), comm(4))}), match.NoComm, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := matchtest.Run(c.logs)
			if got := show(r.Waits); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if r.Epochs.Left[c.why] != c.left || r.Epochs.Calls != r.Epochs.Matched+c.left {
				t.Errorf("%+v", r.Epochs)
			}
		})
	}
}
