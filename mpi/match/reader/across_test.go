package reader_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"ompp-attach/mpi/clocks"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
	"ompp-attach/mpi/match/reader"
)

// checkAcross compares waits across machines with the true ones. slack is by how much a clock's
// rate may change the length of a wait.
func checkAcross(t *testing.T, want map[string]int64, r *match.Result, widest, slack int64) (claimed, blamed int) {
	t.Helper()
	at := func(name string) string { return name[:strings.Index(name, "<")] }
	truth, due := map[string]int64{}, map[string]string{}
	for name, w := range want {
		if strings.HasPrefix(name, fmt.Sprintf("%d:", match.LateReceiverOrder)) {
			continue
		}
		truth[at(name)], due[at(name)] = w, name
	}
	got := map[string]bool{}
	for _, w := range r.Waits {
		switch w.Property {
		case match.LateSenderDone, match.LateReceiverDone, match.LateReceiverOrder, match.BarrierCompletion, match.NxNCompletion, match.WrongOrder, match.WrongOrderOther:
			continue
		}
		name := fmt.Sprintf("%d: %d<%d", w.Property, w.At.Site, w.Due.Site)
		got[at(name)] = true
		true_, ok := truth[at(name)]
		if d := w.T - true_; !ok || d > w.Bound+slack || d < -w.Bound-slack || w.Count != 1 || (w.Across > 0) != (w.Bound > 0) {
			t.Fatalf("%s: %d ns, the truth is %d (%s): off by %d, bound %d", name, w.T, true_, due[at(name)], d, w.Bound)
		}
		claimed++
		if w.Due != w.At {
			if blamed++; due[at(name)] != name {
				t.Fatalf("%s: it was %s", name, due[at(name)])
			}
		}
	}
	for name, w := range truth {
		// It may be in doubt whether a send lasted until the receive, or a start until the post.
		// Such a doubt may concern a wait of any length.
		doubted := strings.HasPrefix(name, fmt.Sprint(match.LateReceiver)) || strings.HasPrefix(name, fmt.Sprintf("%d:", match.LatePost))
		if !doubted && w > 2*widest+slack && !got[name] {
			t.Fatalf("%s: a wait of %d ns is missing; bounds are %d", name, w, widest)
		}
	}
	return claimed, blamed
}

// TestAcross: waits for ranks of other machines are right within their bounds. The named latecomer
// is right, or none is named.
func TestAcross(t *testing.T) {
	claimed, blamed, untold := 0, 0, uint64(0)
	for seed := range uint64(300) {
		m := matchtest.NewModel(seed)
		if seed%3 == 0 {
			rank := m.Rand.IntN(len(m.Now))
			m.Until[rank] = m.Rand.Uint64N(m.Now[rank])
		}
		const widest = 300
		logs, h := m.OnHosts(2+m.Rand.IntN(2), 0)
		h.Error = func() (int64, int64) {
			bound := 1 + m.Rand.Int64N(widest)
			return m.Rand.Int64N(2*bound+1) - bound, bound
		}
		want := m.Truth()
		r := reader.RunAcross(logs, h)
		c, b := checkAcross(t, want, r, widest, 0)
		claimed, blamed, untold = claimed+c, blamed+b, untold+r.Across.Untold
		m.CheckCounts(t, r)
	}
	if claimed < 10000 || blamed < 8000 || untold < 100 {
		t.Errorf("%d waits, %d with a latecomer, %d not told", claimed, blamed, untold)
	}
}

// TestAcrossExactly: with exact clocks, waits are as on one machine, and none is in doubt.
func TestAcrossExactly(t *testing.T) {
	for seed := range uint64(100) {
		m := matchtest.NewModel(seed)
		want := reader.Run(m.Logs())
		logs, h := m.OnHosts(3, 0)
		h.Error = func() (int64, int64) { return 0, 0 }
		if got := reader.RunAcross(logs, h); !maps.Equal(matchtest.Found(got), matchtest.Found(want)) || len(got.Waits) != len(want.Waits) || got.Across != (match.Across{}) {
			t.Fatalf("seed %d: got %v\nwant %v", seed, matchtest.Found(got), matchtest.Found(want))
		}
	}
}

// aligned are clocks that were aligned by the order of calls.
type aligned struct {
	*clocks.Alignment
	number map[string]int
}

func (a aligned) Comparable(x, y string) bool {
	return a.Alignment.Comparable(a.number[x], a.number[y])
}

func (a aligned) Convert(to, from string, t uint64) (uint64, int64) {
	return a.Alignment.Convert(a.number[to], a.number[from], t)
}

// TestAligned: the clocks have offsets and drift, and are aligned by the calls alone. The waits are
// right within their bounds.
func TestAligned(t *testing.T) {
	claimed, blamed, n := 0, 0, 0
	for seed := range uint64(200) {
		m := matchtest.NewModel(seed)
		m.Rand = rand.New(rand.NewPCG(seed, 2))
		spread := m.Rand.Uint64()
		again := func() ([]*match.RankCalls, *matchtest.Hosts) { // each log can be read once only
			m.Rand = rand.New(rand.NewPCG(spread, 3))
			return m.OnHosts(3, 100e-6)
		}
		logs, h := again()
		a := aligned{number: map[string]int{}}
		for name := range h.Offset {
			a.number[name] = len(a.number)
		}
		o := clocks.NewOrders(3)
		reader.Orders(logs, func(first *match.RankCalls, at uint64, then *match.RankCalls, by uint64) {
			o.Add(a.number[first.Host], a.number[then.Host], at, by)
		})
		a.Alignment = clocks.Align(make([]clocks.Clock, 3), o)
		logs, _ = again()
		r := reader.RunAcross(logs, a)
		if r.Across.Waits > 0 {
			n++
		}
		c, b := checkAcross(t, m.Truth(), r, 1<<60, 100)
		claimed, blamed = claimed+c, blamed+b
	}
	if n < 150 || claimed < 3000 || blamed < 2000 {
		t.Errorf("%d programs with waits across machines, %d waits, %d with a latecomer", n, claimed, blamed)
	}
}
