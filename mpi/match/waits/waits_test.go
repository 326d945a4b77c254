package waits

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// exact are clocks of machines, all of which show the same time. Times of the machine "far" may be
// wrong by 7.
type exact struct{}

func (exact) Comparable(_, _ string) bool { return true }

func (exact) Convert(to, from string, t uint64) (at uint64, bound int64) {
	if to == "far" || from == "far" {
		bound = 7
	}
	return t, bound
}

// four returns ranks 0 to 2 on one machine and rank 3 on the machine "far", and a ledger.
func four() ([]*ranks.Rank, *Ledger) {
	var logs []*match.RankCalls
	for rank := range 4 {
		logs = append(logs, &match.RankCalls{Rank: rank})
	}
	logs[3].Host = "far"
	clocks := ranks.NewClocks(exact{}, nil)
	return ranks.Of(logs).Ranks, NewLedger(clocks, true, nil)
}

// shown writes waits as "property rank@site<rank@site time xcount", with the bound if they are
// across machines.
func shown(waits []match.Wait) string {
	var out []string
	for _, w := range waits {
		text := fmt.Sprintf("%d %d@%d<%d@%d %d x%d", w.Property, w.At.Rank, w.At.Site, w.Due.Rank, w.Due.Site, w.T, w.Count)
		if w.Across > 0 {
			text += fmt.Sprintf(" +-%d of %d", w.Bound, w.Across)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// one is a wait for a late sender: rank sent at the time sent.
func one(rank int, wait int64, bound int64) One {
	return One{Property: match.LateSender, After: match.LateSenderDone, Wait: wait, Bound: bound, Due: match.Place{Rank: rank, Site: 9}}
}

// TestLongest: of the waits of one call, the longest counts. If it is not exact, the result says
// how exact it is.
func TestLongest(t *testing.T) {
	rest := func(l One, rest, bound int64) One { l.Rest, l.RestBound = rest, bound; return l }
	receiver := func(l One) One { l.Property, l.After = match.LateReceiver, match.LateReceiverDone; return l }
	overtakes := func(l One) One { l.Overtakes = true; return l }
	unsure := func(l One) One { l.unsure = true; return l }
	for _, c := range []struct {
		name   string
		waits  []One // in a call from 10 to 50
		want   string
		across match.Across
	}{
		{"one", []One{one(1, 30, 0)}, "0 0@1<1@9 30 x1", match.Across{}},
		{"none", []One{one(1, 0, 0)}, "", match.Across{}},
		{"the sender came first", []One{rest(one(1, -5, 0), 3, 0)}, "1 0@1<0@1 3 x1", match.Across{}},
		{"longer than the call", []One{rest(one(1, 60, 0), 5, 0)}, "0 0@1<1@9 40 x1", match.Across{}},
		{"with a rest", []One{rest(one(1, 30, 0), 50, 0)}, "0 0@1<1@9 30 x1; 1 0@1<0@1 10 x1", match.Across{}},
		{"a rest in doubt", []One{rest(one(1, 30, 0), 5, 5)}, "0 0@1<1@9 30 x1", match.Across{}},
		{"a rest that is sure", []One{rest(one(1, 30, 0), 6, 5)}, "0 0@1<1@9 30 x1; 1 0@1<0@1 6 x1", match.Across{}},
		{"the longest, first", []One{one(1, 30, 0), one(2, 20, 0)}, "0 0@1<1@9 30 x1", match.Across{}},
		{"the longest, last", []One{one(1, 20, 0), one(2, 30, 0)}, "0 0@1<2@9 30 x1", match.Across{}},
		{"the longest rest", []One{rest(one(1, 20, 0), 1, 0), rest(one(2, 20, 0), 2, 0)}, "0 0@1<2@9 20 x1; 1 0@1<0@1 2 x1", match.Across{}},
		{"a receive rather than a send", []One{receiver(one(1, 20, 0)), one(2, 20, 0)}, "0 0@1<2@9 20 x1", match.Across{}},
		{"the same in another order", []One{one(2, 20, 0), receiver(one(1, 20, 0))}, "0 0@1<2@9 20 x1", match.Across{}},
		{"overtaken", []One{overtakes(receiver(one(1, 20, 0)))}, "4 0@1<1@9 20 x1; 6 0@1<1@9 20 x1", match.Across{}},
		{"across machines", []One{one(3, 20, 7)}, "0 0@1<3@9 20 x1 +-7 of 1", match.Across{Waits: 1, T: 20, Bound: 7, Widest: 7}},
		{"across machines, and overtaken", []One{overtakes(receiver(one(3, 20, 7)))}, "4 0@1<3@9 20 x1 +-7 of 1; 6 0@1<3@9 20 x1 +-7 of 1", match.Across{Waits: 1, T: 20, Bound: 7, Widest: 7}},
		{"in doubt", []One{one(3, 7, 7)}, "", match.Across{Untold: 1}},
		{"hardly in doubt", []One{one(3, 8, 7)}, "0 0@1<3@9 8 x1 +-7 of 1", match.Across{Waits: 1, T: 8, Bound: 7, Widest: 7}},
		{"either rank was last", []One{one(1, 20, 0), one(3, 22, 7)}, "0 0@1<0@1 22 x1 +-7 of 1", match.Across{Waits: 1, T: 22, Bound: 7, Widest: 7, NoLatecomer: 1}},
		{"one rank was surely last", []One{one(1, 20, 0), one(3, 27, 7)}, "0 0@1<3@9 27 x1 +-7 of 1", match.Across{Waits: 1, T: 27, Bound: 7, Widest: 7}},
		{"either call of one rank", []One{one(3, 20, 7), one(3, 22, 7)}, "0 0@1<3@9 22 x1 +-7 of 1", match.Across{Waits: 1, T: 22, Bound: 7, Widest: 7}},
		{"unsure", []One{unsure(one(1, 20, 0))}, "0 0@1<0@1 20 x1", match.Across{NoLatecomer: 1}},
		{"no longer than the call, whatever the bound", []One{one(3, 38, 7)}, "0 0@1<3@9 38 x1 +-7 of 1", match.Across{Waits: 1, T: 38, Bound: 7, Widest: 7}},
	} {
		all, b := four()
		w := &Waiter{Stay: Stay{Rank: all[0], At: match.Place{Site: 1}, Start: 10, End: 50}, Open: len(c.waits)}
		for i, l := range c.waits {
			if got := b.Waits(); len(got) > 0 {
				t.Errorf("%s: after %d of %d operations %s", c.name, i, len(c.waits), shown(got))
			}
			b.Offer(w, l)
		}
		if got := shown(b.Waits()); got != c.want || b.Across != c.across {
			t.Errorf("%s: %s, want %s; %+v", c.name, got, c.want, b.Across)
		}
	}
}

// TestRequests: a call that waits for requests is matched if each operation was matched. Otherwise
// it is left out for the reason of the first operation that was not.
func TestRequests(t *testing.T) {
	for _, c := range []struct {
		name string
		lost []match.Reason // then comes an operation with a wait
		want match.Count
		wait string
	}{
		{"matched", nil, match.Count{Calls: 1, Matched: 1}, "0 0@1<1@9 30 x1"},
		{"one was not", []match.Reason{match.Wildcard}, match.Count{Calls: 1, Left: [match.NumReasons]uint64{match.Wildcard: 1}}, ""},
		{"two were not", []match.Reason{match.Cancelled, match.Wildcard}, match.Count{Calls: 1, Left: [match.NumReasons]uint64{match.Cancelled: 1}}, ""},
	} {
		all, b := four()
		w := &Waiter{Stay: Stay{Rank: all[0], At: match.Place{Site: 1}, Start: 10, End: 50}, Open: 1 + len(c.lost), Requests: true}
		for _, why := range c.lost {
			b.Lost(why).CompletedBy(w)
		}
		if b.Requests.Calls > 0 {
			t.Errorf("%s: counted before all operations were done", c.name)
		}
		if b.Offer(w, one(1, 30, 0)); b.Requests != c.want || shown(b.Waits()) != c.wait {
			t.Errorf("%s: %+v, %s", c.name, b.Requests, shown(b.Waits()))
		}
	}
}

// TestOnlyIf: a wait is taken back if its condition certainly does not hold. The wait is in doubt
// if this is not certain.
func TestOnlyIf(t *testing.T) {
	for _, c := range []struct{ at, bound, wait, widest int64 }{
		{0, 0, 0, 0}, {-1, 0, 0, 0}, {1, 0, 20, 3}, {-5, 5, 0, 0}, {-4, 5, 20, 20}, {5, 5, 20, 20}, {6, 5, 20, 3},
	} {
		l := one(3, 20, 3)
		if l.OnlyIf(c.at, c.bound); l.Wait != c.wait || l.Bound != c.widest {
			t.Errorf("only if %d +- %d is above 0: a wait of %d +- %d, want %d +- %d", c.at, c.bound, l.Wait, l.Bound, c.wait, c.widest)
		}
	}
}

// TestLastAndFirst: the last and the first of several ranks, and how exactly that is known.
func TestLastAndFirst(t *testing.T) {
	for _, c := range []struct {
		starts      map[int]uint64 // by rank; each leaves 100 later
		last, first string
	}{
		{nil, "nobody", "nobody"},
		{map[int]uint64{1: 20}, "1 at 20 +- 0, unsure false", "1 at 120 +- 0, unsure false"},
		{map[int]uint64{0: 20, 1: 30, 2: 25}, "1 at 30 +- 0, unsure false", "0 at 120 +- 0, unsure false"},
		{map[int]uint64{3: 20}, "3 at 20 +- 7, unsure false", "3 at 120 +- 7, unsure false"},
		{map[int]uint64{0: 20, 3: 27}, "3 at 27 +- 7, unsure false", "0 at 120 +- 0, unsure false"},
		// Whichever rank was last, it did not come before 20.
		{map[int]uint64{0: 20, 3: 26}, "3 at 26 +- 7, unsure true", "0 at 120 +- 1, unsure true"},
		{map[int]uint64{0: 26, 3: 20}, "0 at 26 +- 1, unsure true", "3 at 120 +- 7, unsure true"},
		{map[int]uint64{0: 27, 3: 20}, "0 at 27 +- 0, unsure false", "3 at 120 +- 7, unsure false"},
		{map[int]uint64{0: 20, 1: 22, 3: 23}, "3 at 23 +- 7, unsure true", "0 at 120 +- 4, unsure true"},
	} {
		all, b := four()
		var stays []*Stay
		for rank, k := range all {
			if start, ok := c.starts[rank]; ok {
				stays = append(stays, &Stay{Rank: k, Start: start, End: start + 100})
			}
		}
		text := func(o Moment) string {
			if o.Of == nil {
				return "nobody"
			}
			return fmt.Sprintf("%d at %d +- %d, unsure %v", o.Of.Rank.Index, o.At, o.Bound, o.Unsure)
		}
		if got := text(Last(b.clocks, all[0], stays)); got != c.last {
			t.Errorf("%v: last %s, want %s", c.starts, got, c.last)
		}
		if got := text(First(b.clocks, all[0], stays, Leaving)); got != c.first {
			t.Errorf("%v: first %s, want %s", c.starts, got, c.first)
		}
		slices.Reverse(stays)
		if got := text(Last(b.clocks, all[0], stays)); got != c.last {
			t.Errorf("%v: in another order last %s, want %s", c.starts, got, c.last)
		}
	}
}

// TestWrongOrder: a wait for a late sender counts once as due to the wrong order. It does so if a
// message that was received later had been sent earlier.
func TestWrongOrder(t *testing.T) {
	const same, other = int(match.WrongOrder), int(match.WrongOrderOther)
	type message struct {
		from        int
		start, sent uint64
	}
	for _, c := range []struct {
		name string
		late message // received by rank 0
		then []message
		want string
	}{
		{"sent before", message{1, 10, 30}, []message{{1, 40, 20}}, fmt.Sprintf("; %d 0@1<1@9 20 x1", same)},
		{"sent after", message{1, 10, 30}, []message{{1, 40, 35}}, ""},
		{"sent at that moment", message{1, 10, 30}, []message{{1, 40, 30}}, ""},
		{"by another rank", message{1, 10, 30}, []message{{2, 40, 20}}, fmt.Sprintf("; %d 0@1<1@9 20 x1", other)},
		{"counted once", message{1, 10, 30}, []message{{1, 40, 20}, {1, 50, 21}, {2, 60, 22}}, fmt.Sprintf("; %d 0@1<1@9 20 x1", same)},
		{"the first that was sent before", message{1, 10, 30}, []message{{1, 40, 31}, {2, 60, 22}, {1, 61, 23}}, fmt.Sprintf("; %d 0@1<1@9 20 x1", other)},
		{"in the same call", message{1, 10, 30}, []message{{1, 10, 20}}, ""},
		{"on another machine, surely", message{1, 10, 30}, []message{{3, 40, 22}}, fmt.Sprintf("; %d 0@1<1@9 20 x1", other)},
		{"on another machine, in doubt", message{1, 10, 30}, []message{{3, 40, 23}}, ""},
	} {
		all, b := four()
		w := &Waiter{Stay: Stay{Rank: all[0], At: match.Place{Site: 1}, Start: c.late.start, End: 35}, Open: 1}
		l := one(c.late.from, int64(c.late.sent-c.late.start), 0)
		l.Sent, l.From = c.late.sent, all[c.late.from]
		b.Offer(w, l)
		for _, m := range c.then {
			b.WrongOrder(all[0], all[m.from], m.start, m.sent)
			b.WrongOrder(all[1], all[m.from], m.start, m.sent) // who never waited
		}
		if got, want := shown(b.Waits()), "0 0@1<1@9 20 x1"+c.want; got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}
