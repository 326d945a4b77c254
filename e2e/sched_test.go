package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// ownClocks is what a thread of sched_waits.c says of itself (ns).
type ownClocks struct {
	Wall, CPU, Ready, Waited int64
	Rival                    int
}

// What waits were made of, and what latecomers and holders of locks did: as the program makes them,
// and as the threads' own clocks say. The clocks are those of the same run, so a busy machine
// changes both. They differ by the time for which a hypervisor took processors away, so there are
// several attempts. No time is forgiven: the programs compute, which makes a witness late, too.
func TestSched(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("the program binds threads to two processors")
	}
	for _, compiler := range []string{"gcc", "clang-14"} {
		bin := testbin.Build(t, "sched_waits.c", testbin.Options{Compiler: compiler})
		for _, tc := range []struct{ kind, policy string }{
			{"asleep", "passive"}, {"asleep", "active"}, {"compute", "passive"}, {"robbed", "passive"}, {"crowded", "passive"}, {"lock", "passive"},
		} {
			t.Run(compiler+"/"+tc.kind+"/"+tc.policy, func(t *testing.T) {
				timed(t, func() func(time.Duration) []string {
					s := clean(t, options{env: []string{"OMP_NUM_THREADS=2", "OMP_WAIT_POLICY=" + tc.policy}, flags: []string{"--sched"}}, bin, tc.kind, "10")
					c := schedCheck{T: t, p: s.main, own: clocksOf(t, s.stdout), line: markedLine(t, "sched_waits.c", "@waits")}
					c.identities()
					return func(time.Duration) []string {
						c.wrong = nil
						c.bounded()
						c.spunOrSlept(tc.kind, tc.policy)
						c.latecomer(tc.kind)
						c.names(tc.kind)
						return c.wrong
					}
				})
			})
		}
	}
}

func clocksOf(t *testing.T, stdout string) (own []ownClocks) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(stdout), "\n") {
		var c ownClocks
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("the program printed %q: %v", line, err)
		}
		own = append(own, c)
	}
	return own
}

// markedLine returns the number of the line of a test program that has a mark.
func markedLine(t *testing.T, program, mark string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testbin.Repo(t), "testdata", "programs", program))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.Contains(line, mark) })
	if i < 0 {
		t.Fatalf("%s has no line with %s", program, mark)
	}
	return i + 1
}

type schedCheck struct {
	*testing.T
	p    *profile.Profile
	own  []ownClocks
	line int // of the barrier

	wrong []string // of what load may decide
}

func (c *schedCheck) wrongf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// sums adds up a part of what a thread's waits were made of, at regions that are wanted.
func (c *schedCheck) sums(thread int, wanted func(*profile.Region) bool) (sum profile.Sched) {
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Region < 0 || !wanted(&c.p.Regions[n.Region]) {
			continue
		}
		for _, s := range n.Stats {
			if c.p.Threads[s.Thread].Num == thread && s.Sched != nil {
				sum = *sum.Plus(s.Sched)
			}
		}
	}
	return sum
}

func (c *schedCheck) atLine(r *profile.Region) bool {
	return r.Construct == event.Barrier && r.Location.Begin == c.line
}

func everywhere(*profile.Region) bool { return true }

// identities: parts are no more than the whole, and waits are no more than
// those that were measured.
func (c *schedCheck) identities() {
	for i := range c.p.Nodes {
		for _, s := range c.p.Nodes[i].Stats {
			if s.Sched == nil {
				continue
			}
			for k, o := range s.Sched.Parts() {
				if min(o.Asleep, o.Late, o.Preempted, o.Foreign, o.OnCore()) < 0 || o.Foreign > o.Ready() {
					c.Errorf("node %d, thread %d, kind %d: %+v", i, s.Thread, k, *o)
				}
			}
			if w := s.Waits; w == nil && s.Sched.Wait.T > 0 || w != nil && (s.Sched.Wait.T > w.Wait.T || s.Sched.Done.T > w.Done.T) {
				c.Errorf("node %d, thread %d: more is divided than was waited: %+v, %+v", i, s.Thread, s.Sched, w)
			}
		}
	}
	if w := c.p.Meta.Sched; w == nil || w.Records == 0 || w.Lost > 0 {
		c.Errorf("watched: %+v", w)
	}
}

// bounded: threads were asleep, or without a core, at the barrier for no longer than their own
// clocks say of all their time. The same is true of the time on a core, unless the kernel has not
// told of a switch. All waits at the barrier are divided.
func (c *schedCheck) bounded() {
	for i, own := range c.own {
		s := c.sums(i, c.atLine)
		all := s.Wait
		all.Add(s.Done)
		slack := own.Wall/20 + 1e6 + max(0, own.CPU+own.Ready-own.Wall)
		if asleep := max(0, own.Wall-own.CPU-own.Ready); all.Ready() > own.Ready+slack || all.Asleep > asleep+slack {
			c.wrongf("thread %d: %d ns on a core, %d ready, %d asleep at the barrier; in all it says %+v", i, all.OnCore(), all.Ready(), all.Asleep, own)
		}
		if all.OnCore() > own.CPU+slack && c.p.Meta.Sched.Unseen == 0 {
			c.wrongf("thread %d: %d ns on a core at the barrier; in all it says %+v", i, all.OnCore(), own)
		}
		if all.T < own.Waited-slack {
			c.wrongf("thread %d: %d ns are divided, it waited %d", i, all.T, own.Waited)
		}
	}
}

// spunOrSlept: of a thread that waits actively nothing is asleep;
// one that waits passively mostly is.
func (c *schedCheck) spunOrSlept(kind, policy string) {
	if kind != "asleep" && kind != "compute" {
		return
	}
	wait := c.sums(1, c.atLine).Wait
	rest := wait.T - wait.Ready()
	if policy == "active" && wait.Asleep > rest/10 || policy == "passive" && wait.Asleep < rest/2 {
		c.wrongf("%s: the thread that waits: %+v", policy, wait)
	}
}

// latecomer: for thread 0 the other one waits. What thread 0 did, and how long,
// its own clocks tell.
func (c *schedCheck) latecomer(kind string) {
	own, s := c.own[0], c.sums(0, everywhere)
	if kind == "lock" {
		if s.Held.T == 0 || s.Held.Asleep < s.Held.T/2 {
			c.wrongf("the holder sleeps in the critical section: %+v", s.Held)
		}
		return
	}
	if kind == "crowded" {
		return
	}
	share := func(part, of int64) float64 { return float64(part) / float64(max(1, of)) }
	// The clocks tell of all the time, the wait is a part of it. Where the machine took cores away,
	// the two may differ by as much.
	close := 0.2 + share(c.own[1].Ready, c.own[1].Wall)
	if kind != "robbed" { // that program takes thread 0's core away itself
		close += share(own.Ready, own.Wall)
	}
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"asleep", share(s.Due.Asleep, s.Due.T), share(own.Wall-own.CPU-own.Ready, own.Wall)},
		{"on a core", share(s.Due.OnCore(), s.Due.T), share(own.CPU, own.Wall)},
		{"without a core", share(s.Due.Ready(), s.Due.T), share(own.Ready, own.Wall)},
	} {
		if x.got < x.want-close || x.got > x.want+close {
			c.wrongf("the latecomer was %s for %.2f of the wait; its own clocks say %.2f (%+v, %+v)", x.what, x.got, x.want, s.Due, own)
		}
	}
	if s.Due.T == 0 {
		c.wrongf("nobody waited for the latecomer")
	}
}

// names: the process that shares the core is named, and the time in which it had the core is not
// this process's own.
func (c *schedCheck) names(kind string) {
	if kind != "robbed" && kind != "crowded" {
		return
	}
	// It may have had a core already when it had its parent's name.
	rival := slices.IndexFunc(c.p.Rivals, func(r profile.Rival) bool { return r.PID == c.own[0].Rival && r.Name == "rival" })
	if rival < 0 || c.p.Rivals[rival].Own {
		c.Fatalf("process %d is not named: %+v", c.own[0].Rival, c.p.Rivals)
	}
	var had int64
	var due profile.OffCore
	for thread := range c.own {
		s := c.sums(thread, everywhere)
		due.Add(s.Due)
		for _, x := range slices.Concat(s.By, s.DueBy) {
			if x.Rival == rival {
				had += x.T
			}
		}
	}
	if had == 0 {
		c.wrongf("the rival had no core: %+v", c.p.Rivals)
	}
	// Only other processes share the first core with thread 0.
	if kind == "robbed" && (due.Ready() == 0 || due.Foreign < due.Ready()*7/10) {
		c.wrongf("the latecomer lacked a core: %+v", due)
	}
}
