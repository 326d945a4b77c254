package e2e

import (
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// One thread sets a lock, and another one unsets it. The first thread is not inside the lock for
// ever, and the report says that this happened.
func TestLockHandedOver(t *testing.T) {
	atOnce(t)
	const rounds = 5
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			p := clean(t, options{}, testbin.Build(t, "handoff.c", b.options()), strconv.Itoa(rounds)).main
			balanced(t, p)
			critical := func(name string) func(*profile.Region) bool {
				return func(r *profile.Region) bool { return r.Construct == event.Critical && r.Name == name }
			}
			both := perThread{0: rounds, 1: rounds}
			compare(t, []check{
				{name: "PARALLEL", got: count(p, execC, parallel), want: perThread{0: 2 * rounds, 1: 2 * rounds}},
				{name: "LOCK", got: count(p, execC, is(event.Lock)), want: perThread{0: rounds}},
				{name: "CRITICAL held", got: count(p, execC, critical("held")), want: both},
				{name: "CRITICAL free", got: count(p, execC, critical("free")), want: both},
				{name: "CRITICAL later", got: count(p, execC, critical("later")), want: both},
			})
			// What the holder did after the release may be read before it, and
			// then stays inside; it does not go on for ever.
			if m := p.Meta; m.Unmatched < rounds || m.Partial != 0 || m.LostHits != 0 {
				t.Errorf("unmatched %d, partial %d, lost %d; want at least the %d releases by another thread", m.Unmatched, m.Partial, m.LostHits, rounds)
			}
			for i, n := range p.Nodes {
				if n.Region >= 0 && p.Regions[n.Region].Construct.IsParallel() && strings.Contains(path(p, i), event.Lock.String()+" ") {
					t.Errorf("a region inside of a lock that was released in an earlier one: %s", path(p, i))
				}
			}
			if t.Failed() {
				t.Logf("profile:\n%s", dump(p))
			}
		})
	}
}
