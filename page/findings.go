package page

import (
	"fmt"
	"math"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/report"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// saving says how to estimate the wall time that a finding costs.
type saving int

const (
	// evenly: work that is divided evenly saves the mean of the threads' waiting.
	evenly saving = iota
	// longest: what the thread with most of it spends is saved.
	longest
	// shared: work of one thread that all threads share.
	shared
)

// kind describes a property to readers.
type kind struct {
	class string // of Parts
	says  string // with the place: "Threads wait at the end of %s"
	helps string
	saves saving
}

var kinds = map[string]kind{
	analysis.WaitAtBarrier: {"synch", "Threads wait at %s",
		"Remove the barrier if nothing behind it depends on it, or divide the work before it more evenly.", evenly},
	analysis.ImbalanceInParallelRegion: {"imbal", "Threads wait at the end of %s: some have more to do",
		"Divide the work of the region more evenly among its threads.", evenly},
	analysis.ImbalanceInParallelLoop: {"imbal", "Threads wait at the end of %s: iterations are divided unevenly",
		"If each thread has many iterations, try schedule(dynamic) or schedule(guided), or smaller chunks. If it has few, collapse the loop with an inner one.", evenly},
	analysis.ImbalanceInParallelWorkshare: {"imbal", "Threads wait at the end of %s",
		"Divide the work of the construct more evenly.", evenly},
	analysis.ImbalanceInParallelSections: {"imbal", "Threads wait at the end of %s: sections differ in length",
		"Split long sections, or make tasks of them.", evenly},
	analysis.ImbalanceDueToNotEnoughSections: {"limpar", "Threads have nothing to do in %s: there are fewer sections than threads",
		"Split the sections, or run them beside other work (tasks, nowait).", evenly},
	analysis.ImbalanceDueToUnevenSectionDistribution: {"imbal", "Threads wait at the end of %s: some execute more sections than others",
		"Make the number of sections a multiple of the number of threads, or make tasks of them.", evenly},
	analysis.CriticalSectionContention: {"synch", "Threads wait to get into %s",
		"Do less inside, give unrelated sections different names, or use a reduction or atomics.", longest},
	analysis.LockContention: {"synch", "Threads wait for the lock at %s",
		"Hold the lock for less time, or use several locks, each for a part of the data.", longest},
	analysis.FrequentAtomic: {"synch", "Threads execute %s very often",
		"Sum up in a private variable first, or use a reduction.", longest},
	analysis.InsufficientWorkInParallelLoop: {"mgmt", "Starting and ending the team takes longer than the loop in %s",
		"Join it with neighbouring loops in one parallel region, or run it serially if it is short (if clause).", longest},
	analysis.UnparallelizedInMasterRegion: {"work", "One thread works alone in %s",
		"Share this work among the threads, or let the others do something else meanwhile.", shared},
	analysis.UnparallelizedInSingleRegion: {"limpar", "Threads wait while one works alone in %s",
		"Share this work among the threads, add nowait, or make tasks of it.", evenly},
	analysis.WaitAtTaskwait: {"synch", "Threads wait with nothing to do at %s",
		"Create tasks earlier, make them more even, or wait later.", longest},
	analysis.MPITimeInParallelRegion: {"mpi", "Threads are in MPI during %s",
		"Let messages overlap with work, send fewer and larger ones, or divide the work among ranks more evenly.", longest},
	analysis.WaitForCore: {"no_core", "Threads are ready to run in %s, but others have the cores",
		"Use as many threads as there are cores, bind them, and see who else runs on this machine.", longest},
}

// turns are waits of ORDERED, which the property's catalogue names as those of CRITICAL.
var turns = kind{"synch", "Threads wait for their turn in %s",
	"Move work out of the ordered part, or use smaller chunks.", longest}

// kindOf describes a property of a construct.
func kindOf(name string, c event.Construct) kind {
	if name == analysis.CriticalSectionContention && c == event.Ordered {
		return turns
	}
	if k, ok := kinds[name]; ok {
		return k
	}
	return kind{"work", "Something costs time in %s", "", longest}
}

// findings adds the properties that hold.
func (b *builder) findings() {
	found := b.o.Rules.Findings(b.p)
	all := analysis.ThreadTime(b.p)
	b.teams = b.inTeams()
	starving := analysis.Starving(b.p)
	joint := joint{wall: b.p.Meta.Duration}
	for _, x := range found.Hold {
		k := kindOf(x.Name, b.p.Regions[x.Region].Construct)
		f := Finding{Name: x.Name, Region: x.Region + 1, Class: k.class, Severity: x.Severity, Core: x.Core, Helps: k.helps,
			Time: int64(math.Round(x.Severity * float64(all)))}
		if x.Name == analysis.ImbalanceInParallelLoop && starving[x.Region] {
			f.Helps = severity.HelpsStarving
		}
		rows := b.spent(&x, k.class)
		f.extremes(rows)
		f.Saves = k.saves.of(f.Time, rows)
		f.Says = fmt.Sprintf(k.says, b.named(x.Region))
		if x.Name == analysis.WaitForCore {
			joint.add(f, b.named(x.Region), rows)
			continue
		}
		b.out.Findings = append(b.out.Findings, f)
	}
	b.out.Findings = joint.among(b.out.Findings, kinds[analysis.WaitForCore].says)
	b.out.LeftOut, b.out.Rough = report.LeftOut(b.p, found), report.Rough(b.p)
}

func (b *builder) named(region int) string {
	r := &b.p.Regions[region]
	return fmt.Sprintf("%s %s", r.Construct, words.Region(r))
}

// spent returns the time of a finding by thread, in the order of the threads.
func (b *builder) spent(x *analysis.Property, class string) (rows []Extreme) {
	of := b.own[x.Region]
	switch x.Name {
	case analysis.MPITimeInParallelRegion, analysis.WaitForCore:
		// These findings are of all regions in a parallel one.
		of = b.teams[x.Region]
	}
	for i := range b.flat[x.Region].Rows {
		s := &b.flat[x.Region].Rows[i]
		e := Extreme{Label: b.label(s.Thread)}
		switch own := of[s.Thread]; {
		case x.Name == analysis.UnparallelizedInMasterRegion:
			e.Time = s.Exec.T
		case own == nil:
		case class == "imbal", class == "limpar": // sections can be either
			e.Time = own.Imbal + own.Limpar
		default:
			e.Time = own.of(class)
		}
		rows = append(rows, e)
	}
	return rows
}

// inTeams returns the parts of each parallel region's time, with all regions inside, by thread.
func (b *builder) inTeams() []map[int]*Parts {
	out, paths := make([]map[int]*Parts, len(b.p.Regions)), analysis.NewPaths(b.p)
	for i := 1; i < len(b.p.Nodes); i++ {
		team := paths.Team(i)
		if team < 0 {
			continue
		}
		of := &out[b.p.Nodes[team].Region]
		if *of == nil {
			*of = map[int]*Parts{}
		}
		for k := range b.p.Nodes[i].Stats {
			s := &b.p.Nodes[i].Stats[k]
			if (*of)[s.Thread] == nil {
				(*of)[s.Thread] = &Parts{}
			}
			(*of)[s.Thread].add(s.Exec.T-s.Child, b.classes[i][k])
		}
	}
	return out
}

func (b *builder) label(thread int) string { return words.Thread(b.p.Threads[thread]) }

func (p *Parts) of(class string) int64 {
	switch class {
	case "synch":
		return p.Synch
	case "imbal":
		return p.Imbal
	case "limpar":
		return p.Limpar
	case "mgmt":
		return p.Mgmt
	case "mpi":
		return p.MPI
	case "no_core":
		return p.NoCore
	}
	return p.Work
}

// extremes names the rows with most and with least of the time.
func (f *Finding) extremes(rows []Extreme) {
	if len(rows) < 2 {
		return
	}
	most, least := rows[0], rows[0]
	for _, r := range rows[1:] {
		if r.Time > most.Time {
			most = r
		}
		if r.Time < least.Time {
			least = r
		}
	}
	f.Most, f.Least = &most, &least
}

// of estimates the wall time in ns that a finding costs, as if the same threads waited each time.
func (s saving) of(t int64, rows []Extreme) int64 {
	n, most := int64(max(1, len(rows))), int64(0)
	for _, r := range rows {
		most = max(most, r.Time)
	}
	switch s {
	case evenly:
		return t / n
	case shared:
		return t - t/n
	}
	return min(t, most)
}
