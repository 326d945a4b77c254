package attribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// team puts events into a region. The threads of a team of a size begin the region at 0, and end it
// all at one time.
func team(size, end int, events string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "0 1 fork parallel fn=300 key=7 size=%d site=90\n0 1 begin parallel key=7\n", size)
	for num := range size - 1 {
		fmt.Fprintf(&b, "0 %d begin parallel key=7 num=%d\n", num+2, num+1)
	}
	b.WriteString(events + "\n")
	for tid := range size {
		fmt.Fprintf(&b, "%d %d end parallel\n", end, tid+1)
	}
	fmt.Fprintf(&b, "%d 1 join parallel", end)
	return b.String()
}

// waitLines lists what figures of waits say, one line for each node and thread of which they say
// anything.
func waitLines(p *profile.Profile, say func(w *profile.Waits) string) (out []string) {
	path := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		if n.Parent < 0 {
			continue
		}
		r := p.Regions[n.Region]
		path[i] = path[n.Parent] + "/" + fmt.Sprintf("%s@%d", r.Construct, r.Location.Begin)
		for _, s := range n.Stats {
			if s.Waits == nil {
				continue
			}
			if line := say(s.Waits); line != "" {
				th := p.Threads[s.Thread]
				out = append(out, fmt.Sprintf("%s %d:%d%s", path[i][1:], th.Root, th.Num, line))
			}
		}
	}
	slices.Sort(out) // constructs are listed in the order in which they were read
	return out
}

// named is a time with the name that a line has for it.
type named struct {
	name string
	t    int64
}

// nonzero lists the times that are not 0.
func nonzero(of ...named) (line string) {
	for _, x := range of {
		if x.t != 0 {
			line += fmt.Sprintf(" %s %d", x.name, x.t)
		}
	}
	return line
}

// inOrders feeds events in their order (0), and in some others in which threads may be read. It
// calls a function with the profile of each.
func inOrders(orders uint64, events []event.Event, do func(order uint64, p *profile.Profile)) {
	do(0, replay(events, 2000))
	for seed := uint64(1); seed < orders; seed++ {
		e := New(1, fakeFiles{})
		feedMixed(rand.New(rand.NewPCG(seed, 1)), e, events, seed%2 == 0)
		do(seed, e.Finish(2000))
	}
}

// tabled checks that a table of waits is as wanted, in whatever order the threads are read.
func tabled(t *testing.T, events, want string, table func(*profile.Profile) []string) {
	t.Helper()
	wanted := lines(want)
	slices.Sort(wanted)
	inOrders(60, parse(t, events), func(order uint64, p *profile.Profile) {
		t.Helper()
		if d := cmp.Diff(wanted, table(p)); d != "" {
			t.Fatalf("order %d: -want +got\n%s", order, d)
		}
		balanced(t, p)
	})
}
