package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// schedKinds name the waits in the order of profile.Sched.Parts.
var schedKinds = [...]string{"barrier", "completion", "lock", "tasks", "MPI", "latecomer", "holder"}

// mostWaits is how many kinds of waits at regions the section on the scheduler has.
const mostWaits = 20

// schedRow is what the waits of one kind at a region were made of, of all threads.
type schedRow struct {
	region, kind int
	profile.OffCore
}

// schedRows adds up what waits were made of, the longest first.
func schedRows(p *profile.Profile) (rows []schedRow) {
	sums := map[[2]int]*schedRow{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for j := range n.Stats {
			if n.Stats[j].Sched == nil || n.Region < 0 {
				continue
			}
			for kind, part := range n.Stats[j].Sched.Parts() {
				k := [2]int{n.Region, kind}
				if sums[k] == nil {
					sums[k] = &schedRow{region: n.Region, kind: kind}
				}
				sums[k].Add(*part)
			}
		}
	}
	for _, r := range sums {
		if r.T > 0 {
			rows = append(rows, *r)
		}
	}
	slices.SortFunc(rows, func(a, b schedRow) int {
		return cmp.Or(cmp.Compare(b.T, a.T), cmp.Compare(a.region, b.region), cmp.Compare(a.kind, b.kind))
	})
	return rows
}

// sched writes what waits were made of, if the scheduler was watched. ompP has no such section.
func (o *ompp) sched() {
	w := o.p.Meta.Sched
	if o.Classic || w == nil {
		return
	}
	o.banner("Waits by the Scheduler")
	rows := schedRows(o.p)
	o.printf("Of all threads, with the time that probes took. latecomer, holder: others' waits for threads here.\n")
	o.printf("%-7s %-10s %12s %9s %9s %12s %13s %9s  %s\n", "region", "wait", "T", "core(%)", "asleep(%)", "preempted(%)", "woken late(%)", "moves", "place")
	for _, r := range rows[:min(len(rows), mostWaits)] {
		part := func(t int64) string { return percent(analysis.Ratio(t, r.T)) }
		o.printf("%-7s %-10s %12s %9s %9s %12s %13s %9d  %s\n", fmt.Sprintf("R%05d", r.region+1), schedKinds[r.kind], o.Seconds(r.T, 0),
			part(r.OnCore()), part(r.Asleep), part(r.Preempted), part(r.Late), r.Moves, words.Region(&o.p.Regions[r.region]))
	}
	if n := len(rows) - mostWaits; n > 0 {
		o.printf("and %s that are shorter\n", words.Plural(n, "kind")+" of waits at regions")
	}
	for _, s := range schedText(o.p, o.Clock) {
		o.printf("%s\n", words.Clean(s))
	}
	o.printf("\n")
}

// schedText says in sentences who had the cores for which threads waited, and what was lost.
func schedText(p *profile.Profile, c words.Clock) (out []string) {
	w := p.Meta.Sched
	var own, due profile.OffCore
	var by, dueBy []profile.Share
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Stats {
			if s.Sched == nil {
				continue
			}
			for kind, part := range s.Sched.Parts() {
				if schedKinds[kind] == "latecomer" || schedKinds[kind] == "holder" {
					due.Add(*part)
				} else {
					own.Add(*part)
				}
			}
			for _, x := range s.Sched.By {
				by = profile.AddShare(by, x)
			}
			for _, x := range s.Sched.DueBy {
				dueBy = profile.AddShare(dueBy, x)
			}
		}
	}
	say := func(what string, off profile.OffCore, by []profile.Share) {
		if off.Ready() == 0 {
			return
		}
		out = append(out, fmt.Sprintf("%s: %s sec without a core, and other processes on it for %s sec of these. %s.",
			what, c.Seconds(off.Ready(), 0), c.Seconds(off.Foreign, 0), rivals(p, by, c)))
	}
	say("In waits", own, by)
	say("Threads for which others waited", due, dueBy)
	if w.Lost > 0 {
		out = append(out, fmt.Sprintf("Records of %s off a core (%s sec) were lost, because a buffer was full. Waits at these times are not divided, or seem to be on a core.",
			words.Plural(int(w.Lost), "time"), c.Seconds(int64(w.LostTime), 0)))
	}
	if w.Unseen > 0 {
		out = append(out, fmt.Sprintf("The kernel did not tell of %s of threads on cores: when these were is derived from the threads' processor time.",
			words.Plural(int(w.Unseen), "change")))
	}
	return out
}

// rivals names the processes that had the core longest.
func rivals(p *profile.Profile, by []profile.Share, c words.Clock) string {
	const most = 5
	slices.SortStableFunc(by, func(a, b profile.Share) int { return cmp.Compare(b.T, a.T) })
	var names []string
	for _, s := range by[:min(len(by), most)] {
		if s.Rival >= len(p.Rivals) {
			continue
		}
		r := p.Rivals[s.Rival]
		who := words.Rival(r.Name, r.PID, "")
		if r.Own {
			who = "threads of this process"
		}
		names = append(names, fmt.Sprintf("%s %s sec", who, c.Seconds(s.T, 0)))
	}
	if len(names) == 0 {
		return "Who had the core is not known"
	}
	if n := len(by) - most; n > 0 {
		names = append(names, fmt.Sprintf("less to each of %d others", n))
	}
	return "The core went to: " + strings.Join(names, ", ")
}
