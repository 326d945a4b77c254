package attribution

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
)

// sharedAddress is a program of two threads that start nested teams of two, all at one address, one
// after the other. A thread reports a fork some time before its team gets the address, and the join
// some time after the address is free. executions counts each thread's teams.
func sharedAddress(t *testing.T, rnd *rand.Rand, runtime string) (events []event.Event, executions [2]int) {
	t.Helper()
	const unit = clockSlack / 20 // ns: a wait of an event is longer or shorter than the slack
	type line struct {
		at   int
		text string
	}
	var all []line
	tell := func(at int, format string, args ...any) {
		all = append(all, line{at, fmt.Sprintf(format, args...) + runtime})
	}
	tell(1, "1 fork parallel fn=300 site=90")
	tell(10, "1 begin parallel key=7 num=0 size=2")
	tell(12, "2 begin parallel key=7 num=1")
	last := [2]int{12, 12} // time of each thread's last event
	begin, end := 0, 20    // of the address's use
	for range 1 + rnd.IntN(6) {
		begin = max(end+2, min(last[0], last[1])+2)
		end = begin + 5 + rnd.IntN(100)
		p := rnd.IntN(2)
		if last[p]+2 > begin {
			p = 1 - p
		}
		within := func(from int) int { return from + rnd.IntN(end-1-from) }
		tell(last[p]+1+rnd.IntN(begin-last[p]-1), "%d fork parallel fn=31%d site=90", p+1, p)
		for num, thread := range []int{p + 1, 3 + rnd.IntN(3)} {
			at := within(begin)
			tell(at, "%d begin parallel key=9 num=%d size=2", thread, num)
			tell(within(at)+1, "%d end parallel", thread)
		}
		last[p] = end + rnd.IntN(150)
		tell(last[p], "%d join parallel", p+1)
		executions[p]++
	}
	over := max(last[0], last[1], end) + 10
	tell(over, "2 end parallel")
	tell(over+1, "1 end parallel")
	tell(over+5, "1 join parallel")
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var text strings.Builder
	for _, l := range all {
		fmt.Fprintf(&text, "%d %s\n", l.at*unit, l.text)
	}
	return parse(t, text.String()), executions
}

// The address of a team that has ended may be that of another thread's team before the first one's
// join is reported. Each worker counts in its own team, in whatever order the threads are read.
func TestSharedAddress(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range tries(2000) {
		for _, runtime := range []string{"", " rt=k"} {
			events, executions := sharedAddress(t, rnd, runtime)
			for range 10 {
				mixed := mix(rnd, events)
				e := New(1, fakeFiles{})
				for i := range mixed {
					if rnd.IntN(8) == 0 {
						e.Advance(slices.MinFunc(mixed[i:], func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) }).Time)
					}
					e.Feed(&mixed[i])
				}
				p := e.Finish(events[len(events)-1].Time)
				bodies := [2]uint64{}
				for path, f := range measured(p) {
					for i := range bodies {
						if strings.HasSuffix(path.path, fmt.Sprintf("@31%d", i)) {
							bodies[i] += f.Body.C
						}
					}
				}
				if want := [2]uint64{2 * uint64(executions[0]), 2 * uint64(executions[1])}; bodies != want || p.Meta.Partial+p.Meta.Unmatched != 0 {
					t.Errorf("%d bodies, want %d; %d partial, %d unmatched", bodies, want, p.Meta.Partial, p.Meta.Unmatched)
					for i := range mixed {
						ev := &mixed[i]
						t.Logf("%d %d %v key=%d num=%d", ev.Time, ev.TID, ev.Edge, ev.Key, ev.Num)
					}
					t.FailNow()
				}
			}
		}
	}
}
