package jobs

import (
	"regexp"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/reporttest"
)

// withoutCore makes a rank's thread lack a core for the given time in each of its regions except
// those of MPI.
func withoutCore(p *profile.Profile, thread int, away int64) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region >= 0 && (p.Regions[n.Region].Construct != event.Parallel && p.Regions[n.Region].Construct != event.Loop) {
			continue
		}
		for j := range n.Stats {
			if s := &n.Stats[j]; s.Thread == thread {
				s.NoCore = &profile.Cost{Exec: away, Body: away}
				if n.Region >= 0 && p.Regions[n.Region].Construct == event.Parallel {
					s.NoCore.Child = away
				}
			}
		}
	}
}

// A job's summary says if a slow rank's threads had no core. It names the ranks with the fewest
// cores once each, the worst first, four at most.
func TestJobWithoutCores(t *testing.T) {
	ranks := reporttest.Figure9Job(t, 0, 200, 0, 0, 0, 0, 0)
	for r, p := range ranks {
		p.Nodes[0].Stats[0].NoCore = &profile.Cost{Exec: int64(100+10*r) * reporttest.MS}
	}
	withoutCore(ranks[1], 1, 190*reporttest.MS)
	ranks[1].Nodes[0].Stats[0].Thread = 1 // which lacked no core elsewhere
	ranks[1].Nodes[0].Stats[0].NoCore = &profile.Cost{Exec: 190 * reporttest.MS}
	text := string(jobBytes(t, reporttest.ReadJob(t, ranks), WriteText, report.Options{}))
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"Without Core : 0.990000 sec, 17.2% of thread time, ready to run without a core: 3.3% in the overheads, 13.9% in other time Probe Cost",
		"Why : a thread of rank 1 lacked a core there for 0.1900 sec, one of the mean rank for 0.0271 Who",
		"Threads waited for cores: rank 1 had a core for 77% of its time, rank 6 for 81%, rank 5 for 82%, rank 4 for 83%, " +
			"3 other ranks for less than 90%. Ranks without a core are late everywhere",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// The job itself is named for the lack of cores where its ranks have more threads than cores.
func TestCrowds(t *testing.T) {
	for _, c := range []struct {
		name  string
		hosts []string
		cpus  []profile.CPUs
		want  string
		lacks string          // the host whose ranks lack cores; empty: all
		quota []profile.Quota // of the ranks in turns
	}{
		{"as many threads as cores", []string{"a", "a"}, []profile.CPUs{"0-1", "2-3"}, "for them. Look at who else uses these cores", "", nil},
		{"more, on one machine of two", []string{"b", "b", "a", "a"}, []profile.CPUs{"0-15", "0-15", "0-1", "0,2"},
			"them. The job itself has more threads than cores: on a, 2 ranks with 4 threads on 3 cores. Start fewer ranks or threads, or give ranks more cores (see how the launcher binds them), before you look", "", nil},
		{"more, on both", []string{"b", "a"}, []profile.CPUs{"7", "3"}, "on b, 1 rank with 2 threads on 1 core, and the like on 1 other machine. Start", "", nil},
		{"more, where none lacks a core", []string{"a", "b"}, []profile.CPUs{"0-3", "3"}, "Look at who else", "a", nil},
		{"not all known", []string{"b", "a"}, []profile.CPUs{"0", ""}, "on b, 1 rank with 2 threads on 1 core. Start", "", nil},
		{"none known", []string{"b", "a"}, []profile.CPUs{"", ""}, "Look at who else uses these cores before", "", nil},
		{"one rank bound to few", []string{"a", "a"}, []profile.CPUs{"0", "1-31"}, "on a, 1 rank with 2 threads on 1 core. Start", "", nil},
		{"masks that overlap", []string{"a", "a"}, []profile.CPUs{"0-3", "3-7"}, "Look at who else uses these cores, and whether threads of several ranks are bound to the same ones", "", nil},
		{"of two machines", []string{"b", "a"}, []profile.CPUs{"0-3", "0-3"}, "Look at who else uses these cores before", "", nil},
		{"more than a control group lets run", []string{"a", "a"}, []profile.CPUs{"0-15", "0-15"},
			"on a, 2 ranks with 4 threads on 2 cores (the limit of a control group). Start fewer ranks or threads, or give the job more processor time", "", []profile.Quota{{CPUs: 1.5, Group: 1}}},
		{"two limits", []string{"a", "a"}, []profile.CPUs{"0-15", "0-15"},
			"Look at who else", "", []profile.Quota{{CPUs: 1.5, Group: 1}, {CPUs: 2.5, Group: 2}}},
		{"a rank without a limit", []string{"a", "a"}, []profile.CPUs{"0-1", "2-3"},
			"Look at who else", "", []profile.Quota{{CPUs: 1.5, Group: 1}, {}}},
		{"a limit above the masks", []string{"a", "a"}, []profile.CPUs{"0", "1"},
			"with 4 threads on 2 cores. Start", "", []profile.Quota{{CPUs: 3, Group: 1}}},
	} {
		ranks := reporttest.Figure9Job(t, make([]uint64, len(c.hosts))...)
		for i, p := range ranks {
			p.Meta.Host, p.Meta.CPUs = c.hosts[i], c.cpus[i]
			if n := len(c.quota); n > 0 && c.quota[i%n].CPUs > 0 {
				p.Meta.Quota = &c.quota[i%n]
			}
			if c.lacks != "" && c.lacks != c.hosts[i] {
				continue
			}
			// By the kernel's clock, more than all of the threads' time.
			p.Nodes[0].Stats[0].NoCore = &profile.Cost{Exec: 900 * reporttest.MS}
		}
		text := string(jobBytes(t, reporttest.ReadJob(t, ranks), WriteText, report.Options{}))
		for _, want := range []string{c.want, "rank 0 had a core for 0% of its time"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
	}
}

// A slow rank is not slow for time without a core in MPI: there it would have waited.
func TestJobWithoutCoresInMPI(t *testing.T) {
	crowd := regexp.MustCompile(`Why +: outside of MPI, threads without a core held up rank 1 for 0.9000 sec, the mean rank for 0.1286`)
	for name, tc := range map[string]struct{ inMPI, outside int64 }{"in MPI": {900, 0}, "outside": {0, 900}} {
		ranks := reporttest.Figure9Job(t, 0, 200, 0, 0, 0, 0, 0)
		for i := range ranks[1].Nodes {
			n := &ranks[1].Nodes[i]
			for k := range n.Stats {
				if m := n.Stats[k].MPI; m != nil && i == 0 {
					m.NoCore = tc.inMPI * reporttest.MS
				}
			}
		}
		ranks[1].Nodes[0].Stats[0].NoCore = &profile.Cost{Exec: (tc.inMPI + tc.outside) * reporttest.MS}
		text := string(jobBytes(t, reporttest.ReadJob(t, ranks), WriteText, report.Options{}))
		if crowded := crowd.MatchString(text); crowded != (tc.outside > 0) {
			t.Errorf("%s: blames the lack of cores: %t\n%s", name, crowded, text)
		}
	}
}

// One rank alone is not compared with itself.
func TestJobOfOneRank(t *testing.T) {
	for n, want := range map[int]bool{1: false, 2: true} {
		text := string(jobBytes(t, reporttest.ReadJob(t, reporttest.Figure9Job(t, make([]uint64, n)...)), WriteText, report.Options{}))
		if got := strings.Contains(text, "the shortest is"); got != want || !strings.Contains(text, "sec, that of rank 0") {
			t.Errorf("%d ranks: compares durations: %t, want %t\n%s", n, got, want, text)
		}
	}
}
