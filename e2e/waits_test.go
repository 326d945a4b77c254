package e2e

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// The test is about who waited how long at barriers, who came last, and what is due to the late
// thread. The results are equal to the times that the program itself noted. Counts are exact.
func TestWaits(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang-14", "clang-19"} {
		t.Run(compiler, func(t *testing.T) {
			bin := testbin.Build(t, "waits.c", testbin.Options{Compiler: compiler})
			timed(t, func() func(time.Duration) []string {
				s := clean(t, options{}, bin)
				complete(t, s.main)
				balanced(t, s.main)
				return func(late time.Duration) []string { return wrongWaits(t, s, compiler == "gcc", late) }
			})
		})
	}
}

// wrongWaits lists the waits that are not what the program printed.
func wrongWaits(t *testing.T, s *session, gcc bool, late time.Duration) (wrong []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(s.stdout), "\n")
	if len(lines) < 40 {
		t.Fatalf("the program printed %q", s.stdout)
	}
	cube := severity.Of(s.main, severity.Options{})
	for _, text := range lines {
		var line, thread int
		var construct, column string
		var want profile.Sum
		if _, err := fmt.Sscanf(text, "%d\t%s\t%d\t%s\t%d\t%d", &line, &construct, &thread, &column, &want.T, &want.C); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got := waitsAtLine(s.main, construct, line, thread)
		have := map[string]profile.Sum{"wait": got.Wait, "last": got.Last, "delay": {T: got.Delay},
			"contended": got.Contended, "held": got.Held, "notask": got.NoTask, "latetask": got.LateTask,
			"fortask": got.ForTask, "oftask": got.OfTask}[column]
		if id := map[string]string{"notask": severity.NoTask, "latetask": severity.LateTask,
			"fortask": severity.ForTask, "oftask": severity.OfTask}[column]; id != "" {
			if v := severityAtLine(cube, id, construct, line, thread); v != have.T {
				wrong = append(wrong, fmt.Sprintf("%s: %s is %d ns, the profile has %d", text, id, v, have.T))
			}
		}
		again := construct == "REDUCTION" && !gcc // each is two barriers
		if again && column == "wait" {
			want.C *= 2
		}
		// Among holders of almost equal times, chance decides who held it longest.
		if column == "held" {
			have.C = want.C
		}
		if have.C != want.C && !(again && column == "last" && have.C > want.C) {
			wrong = append(wrong, fmt.Sprintf("%s: got %d instances", text, have.C))
		}
		const exact = 100e3 // ns
		if off := math.Abs(float64(have.T - want.T)); off > max(exact, 0.05*float64(want.T))+float64(late) {
			wrong = append(wrong, fmt.Sprintf("%s: got %d ns", text, have.T))
		}
		if column == "wait" && (got.Done.C != got.Wait.C && construct != "PARALLEL" || got.Dropped > 0) {
			wrong = append(wrong, fmt.Sprintf("%s: the leaving of %d of %d is known, %d are dropped", text, got.Done.C, got.Wait.C, got.Dropped))
		}
	}
	return wrong
}

// severityAtLine returns a property of a thread at the constructs of a line.
func severityAtLine(c *severity.Cube, property, construct string, line, thread int) (sum int64) {
	for _, v := range c.Of(c.Property(property)) {
		if v.Path == 0 || c.Threads[v.Thread].Num != thread {
			continue
		}
		r := &c.Regions[c.Paths[v.Path].Region]
		if r.Location.Begin == line && r.Construct.String() == construct {
			sum += v.V
		}
	}
	return sum
}

// waitsAtLine returns a thread's waits at the constructs of a line.
func waitsAtLine(p *profile.Profile, construct string, line, thread int) (sum profile.Waits) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 {
			continue
		}
		r := &p.Regions[n.Region]
		if r.Location.Begin != line || r.Construct.String() != construct && construct != "REDUCTION" {
			continue
		}
		for _, x := range n.Stats {
			if p.Threads[x.Thread].Num == thread && x.Waits != nil {
				sum = *sum.Plus(x.Waits)
			}
		}
	}
	if construct == event.Critical.String() {
		sum.Wait, sum.Last = profile.Sum{}, profile.Sum{}
	}
	return sum
}
