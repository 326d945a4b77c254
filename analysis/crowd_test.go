package analysis_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// A crowd are processes with more threads than processors: of a machine, or of the processors to
// which the launcher has bound some of them.
func TestCrowds(t *testing.T) {
	crew := func(clock string, threads int, cpus profile.CPUs) analysis.Crew {
		return analysis.Crew{Host: "host of " + clock, Clock: clock, CPUs: cpus, Threads: threads, Lacks: true}
	}
	lacks := func(c analysis.Crew) analysis.Crew {
		c.Lacks = !c.Lacks
		return c
	}
	limited := func(cpus float64, group uint64, c analysis.Crew) analysis.Crew {
		c.Quota = &profile.Quota{CPUs: cpus, Group: group}
		return c
	}
	many := func(each int) (all []analysis.Crew) { // more masks than are compared
		for i := range 600 {
			all = append(all, crew("a", each, profile.CPUs(fmt.Sprint(i))))
		}
		return all
	}
	for _, c := range []struct {
		what  string
		crews []analysis.Crew
		want  []analysis.Crowd
	}{
		{"as many as cores", []analysis.Crew{crew("a", 2, "0-1"), crew("a", 2, "2-3")}, nil},
		{"a process", []analysis.Crew{crew("a", 4, "0-1")}, []analysis.Crowd{{"host of a", 1, 4, 2, false}}},
		{"two on the same cores", []analysis.Crew{crew("a", 2, "0-2"), crew("a", 2, "0-2")}, []analysis.Crowd{{"host of a", 2, 4, 3, false}}},
		{"masks that overlap", []analysis.Crew{crew("a", 2, "0-1"), crew("a", 2, "1-2"), crew("a", 1, "8-31")}, []analysis.Crowd{{"host of a", 2, 4, 3, false}}},
		{"bound to a core each", []analysis.Crew{crew("a", 4, "0"), crew("a", 4, "1")}, []analysis.Crowd{{"host of a", 2, 8, 2, false}}},
		{"one of two", []analysis.Crew{crew("a", 8, "0"), crew("a", 1, "1-16")}, []analysis.Crowd{{"host of a", 1, 8, 1, false}}},
		{"two of three", []analysis.Crew{crew("a", 2, "0"), crew("a", 1, "1-16"), crew("a", 3, "17")}, []analysis.Crowd{{"host of a", 2, 5, 2, false}}},
		{"a part of the cores", []analysis.Crew{crew("a", 4, "0-1"), crew("a", 1, "0-31")}, []analysis.Crowd{{"host of a", 1, 4, 2, false}}},
		{"on another machine", []analysis.Crew{crew("a", 2, "0-1"), crew("b", 4, "0-1"), crew("c", 2, "3")},
			[]analysis.Crowd{{"host of b", 1, 4, 2, false}, {"host of c", 1, 2, 1, false}}},
		{"none lacks a core", []analysis.Crew{lacks(crew("a", 4, "0-1"))}, nil},
		{"those who lack cores have enough", []analysis.Crew{lacks(crew("a", 4, "0-1")), crew("a", 2, "2-3")}, nil},
		{"not known", []analysis.Crew{crew("a", 4, "")}, nil},
		{"one not known", []analysis.Crew{crew("a", 4, ""), crew("a", 2, "3")}, []analysis.Crowd{{"host of a", 1, 2, 1, false}}},
		{"a control group's limit", []analysis.Crew{limited(1.5, 7, crew("a", 2, "0-3")), limited(1.5, 7, crew("a", 1, "0-3"))},
			[]analysis.Crowd{{"host of a", 2, 3, 2, true}}},
		{"of a limit, the half core", []analysis.Crew{limited(1.5, 7, crew("a", 2, "0-3"))}, nil},
		{"limits of two groups", []analysis.Crew{limited(1, 7, crew("a", 2, "0-7")), limited(1, 8, crew("a", 2, "0-7")), limited(4, 9, crew("a", 2, "0-7"))},
			[]analysis.Crowd{{"host of a", 2, 4, 2, true}}},
		{"a limit above the mask", []analysis.Crew{limited(3, 7, crew("a", 4, "0-1"))}, []analysis.Crowd{{"host of a", 1, 4, 2, false}}},
		{"a limit, but none lacks a core", []analysis.Crew{limited(1, 7, lacks(crew("a", 2, "0-1")))}, nil},
		{"many masks", many(2), []analysis.Crowd{{"host of a", 600, 1200, 600, false}}},
		{"many masks, none crowded", many(1), nil},
	} {
		if d := cmp.Diff(c.want, analysis.Crowds(c.crews)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, d)
		}
	}
}

// Threads that lived one after the other need no core each.
func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		threads    int
		time, wall int64
		want       int
	}{{4, 4000, 1000, 4}, {101, 2000, 1000, 2}, {101, 2001, 1000, 3}, {3, 100, 1000, 1}, {2, 5000, 1000, 2}, {3, 100, 0, 3}} {
		if got := analysis.AtOnce(c.threads, c.time, c.wall); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A process is a crew with its threads, and it lacks cores if it had none for a tenth of its time.
func TestCrewOf(t *testing.T) {
	for away, lacks := range map[int64]bool{150: false, 300: true} {
		p := &profile.Profile{Threads: []profile.Thread{{Num: 0}, {Num: 1}}, Nodes: []profile.Node{{Parent: -1, Region: -1,
			Stats: []profile.ThreadStats{{NoCore: &profile.Cost{Exec: away}}}}}}
		p.Meta.Duration, p.Meta.Host, p.Meta.CPUs, p.Meta.Quota = 1000, "n1", "0-3", &profile.Quota{CPUs: 2}
		want := analysis.Crew{Host: "n1", Clock: "host n1", CPUs: "0-3", Quota: p.Meta.Quota, Threads: 2, Lacks: lacks}
		if got := analysis.CrewOf(p); got != want {
			t.Errorf("%d ns away: %+v, want %+v", away, got, want)
		}
	}
}

// Initial threads that lived one after the other count as one.
func TestCrewOfBriefThreads(t *testing.T) {
	p := &profile.Profile{Threads: []profile.Thread{{}, {Root: 1, Lived: 900, Joined: 9}}, Nodes: []profile.Node{{Parent: -1, Region: -1}}}
	p.Meta.Duration = 1000
	if all, got := analysis.Threads(p), analysis.CrewOf(p).Threads; all != 10 || got != 2 {
		t.Errorf("%d of %d threads at a time, want 2 of 10", got, all)
	}
}
