package page

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// mostDue bounds the findings for which a page names culprits, the findings with most time first.
// mostCulprits bounds the culprits of each finding: the threads or ranks for which others waited.
const (
	mostDue      = 300
	mostCulprits = 6
)

// TreeFinding says who caused the time of a property at a call path, and what mending saves.
type TreeFinding struct {
	Property int   `json:"property"`
	Path     int   `json:"path"`
	Time     int64 `json:"ns"`
	// Saves is the wall time that a process saves at most, ns; absent: not known. Of says which
	// process this is, and how long the process ran.
	Saves *int64    `json:"saves_ns,omitempty"`
	Of    string    `json:"of,omitempty"`
	Due   []TreeDue `json:"due,omitempty"`  // the worst first
	More  int       `json:"more,omitempty"` // how many others there are
}

// TreeDue is a thread or a rank for which others waited.
type TreeDue struct {
	Who   string `json:"who"`
	Did   string `json:"did"`                // what made the others wait, as a verb
	At    int    `json:"at"`                 // the path where this thread or rank was meanwhile
	From  int    `json:"from,omitempty"`     // the path from which it came; 0: not known
	Time  int64  `json:"ns"`                 // of the others' waits
	Bound int64  `json:"bound_ns,omitempty"` // largest error of Time, ns; absent: Time is exact
	Times int64  `json:"times,omitempty"`    // number of waits, or how often it came last
}

var did = map[severity.Role]string{severity.CameLast: "came last", severity.HeldLock: "held it", severity.CreatedLate: "created tasks late", severity.RankLate: "was late", severity.RanTask: "executed tasks"}

// due adds the findings with known savings or culprits, and the savings of properties. number has
// the index of each of the cube's properties in t.Properties.
func (t *Trees) due(c *severity.Cube, found []severity.Finding, number []int) {
	for i := range found[:min(len(found), mostDue)] {
		f := &found[i]
		x := TreeFinding{Property: number[f.Property], Path: f.Path, Time: f.Time}
		x.Saves, x.Of = savingOf(c, f.Saving)
		for k, d := range c.Culprits(f) {
			if k == mostCulprits || d.Time*20 < x.first() {
				x.More++
				continue
			}
			x.Due = append(x.Due, TreeDue{Who: who(c, &d), Did: did[d.Role], At: d.Path, From: max(0, d.From), Time: d.Time, Bound: d.Bound, Times: d.Times})
		}
		if x.Saves != nil || len(x.Due) > 0 {
			t.Findings = append(t.Findings, x)
		}
	}
	for _, l := range c.Losses(found) {
		p := &t.Properties[number[l.Property]]
		p.Saves, p.Of = savingOf(c, l.Saving)
		p.Helps = helpsOf(c, &l)
	}
}

// helpsOf returns what helps against a property: at the place with most of its time, and at the
// places where something else helps, because threads wait there for other reasons.
func helpsOf(c *severity.Cube, l *severity.Loss) string {
	var all []string
	for i := range l.Findings {
		if helps := c.Helps(&l.Findings[i]); !slices.Contains(all, helps) {
			all = append(all, helps)
		}
	}
	return strings.Join(all, " At other places: ")
}

// first returns the time of the worst culprit, or 0 if there is none.
func (x *TreeFinding) first() int64 {
	if len(x.Due) == 0 {
		return 0
	}
	return x.Due[0].Time
}

// who names a culprit.
func who(c *severity.Cube, d *severity.Culprit) string {
	switch {
	case d.Thread < 0 || c.Level == severity.ByProcess, d.Role == severity.RankLate && !c.Names(d.Thread):
		return fmt.Sprintf("rank %d", d.Rank)
	case c.Level == severity.Whole:
		return "some thread"
	case d.Rank >= 0 && len(c.Processes) > 1:
		return fmt.Sprintf("rank %d, thread %s", d.Rank, words.Thread(c.Threads[d.Thread].Thread))
	}
	return "thread " + words.Thread(c.Threads[d.Thread].Thread)
}

func savingOf(c *severity.Cube, s severity.Saving) (ns *int64, of string) {
	if !s.Known {
		return nil, ""
	}
	p := &c.Processes[s.Process]
	if of = "the run"; len(c.Processes) > 1 {
		of = fmt.Sprintf("rank %d", p.Rank)
	}
	return &s.Time, fmt.Sprintf("the %.2f s of %s", float64(p.Wall)/1e9, of)
}
