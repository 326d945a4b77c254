package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/perfcounters"
	"ompp-attach/profile"
	"ompp-attach/report/limits"
	"ompp-attach/report/words"
)

// WriteOmpp writes ompP's text report. It has ompP's seven sections with their titles, columns and
// widths, so that people and scripts that know ompP's reports can read this one. Additions are more
// header lines, columns at the right end, and sections of their own (docs/reading.md lists them).
func WriteOmpp(w io.Writer, p *profile.Profile, options Options) error {
	out := bufio.NewWriter(w)
	p = options.view(p)
	o := &ompp{Writer: out, p: p, Options: options, Clock: options.clock(p), tid: 4, mpi: usesMPI(p), noCore: showsNoCore(p, options.Rules),
		formulas: options.evaluators(p), outline: findOutline(p, options), tasks: showsTasks(p)}
	for _, t := range p.Threads {
		o.tid = max(o.tid, len(words.Thread(t))+1)
	}
	o.header()
	o.overview()
	o.regionsByTime()
	o.callgraph()
	o.flatProfiles()
	o.callgraphProfiles()
	o.overheads()
	o.properties()
	o.efficiency()
	o.sched()
	o.levels()
	o.callSites()
	o.hotLines()
	o.notes()
	return out.Flush()
}

// ompp is a text report that is being written. The bufio.Writer keeps write errors until the final
// Flush.
type ompp struct {
	*bufio.Writer
	Options
	p *profile.Profile
	words.Clock
	tid int  // width of the TID column: ompP's 4, unless a thread needs more
	mpi bool // the process used MPI

	tasks  bool // threads executed tasks in waits, or may have done so: see showsTasks
	noCore bool // threads lacked a core for a part of their time: see showsNoCore

	formulas []*perfcounters.Formula
	outline  *outline
}

func (o *ompp) printf(format string, args ...any) { fmt.Fprintf(o, format, args...) }

// banner writes the heading of a section.
func (o *ompp) banner(title string) {
	rule := strings.Repeat("-", 70)
	line := "----     ompP " + title + "     "
	o.printf("%s\n%s%s\n%s\n", rule, line, rule[:max(0, 70-len(line))], rule)
}

// header writes the first section. The keys after PAPI Support, and those on MPI, are additions to
// ompP's.
func (o *ompp) header() {
	o.banner("General Information")
	o.facts(func(name, format string, args ...any) {
		o.printf("%-16s: %s\n", name, words.Clean(fmt.Sprintf(format, args...)))
	})
	o.printf("\n")
}

// facts passes the lines of the header to key.
func (o *ompp) facts(key func(name, format string, args ...any)) {
	m := &o.p.Meta
	// The format "%a %b %d %T %Y" of C.
	const date = "Mon Jan 02 15:04:05 2006"
	state := "final"
	if m.Ended == "" || !m.SnapshotAt.IsZero() {
		state = "incremental"
	}
	key("Start Date", "%s", m.Start.Format(date))
	key("End Date", "%s", m.Start.Add(time.Duration(limits.MeasuredDuration(o.p))).Format(date))
	duration := o.Seconds(m.Duration, 0) + " sec"
	if m.Duration <= 0 && m.Hits == 0 {
		duration = "0 sec: nothing was measured"
	}
	key("Duration", "%s", duration)
	key("Application Name", "%s", words.Program(o.p))
	key("Type of Report", "%s", state)
	key("User Time", "%s sec", o.Seconds(m.UserTime, 0))
	key("System Time", "%s sec", o.Seconds(m.SysTime, 0))
	key("Max Threads", "%d", analysis.Threads(o.p))
	key("ompP Version", "%s (ompp-attach)", orUnknown(m.Tool))
	key("ompP Build Date", "%s", orUnknown(m.Built))
	key("PAPI Support", "not available")
	o.counterHeader(key)
	if o.mpi {
		o.mpiHeader(key)
	}

	o.measuredHeader(key)
	o.endHeader(key)
}

// measuredHeader calls key for each line of the header that says what was measured, and what is
// missing.
func (o *ompp) measuredHeader(key func(name, format string, args ...any)) {
	m := &o.p.Meta
	key("Kernel", "%s %s", orUnknown(m.Kernel), m.Arch)
	missing := 0
	for _, r := range m.Runtimes {
		key("Runtime", "%s %s (%s)", r.Name, orUnknown(r.Version), r.Path)
		missing += len(r.Missing)
	}
	if len(m.Runtimes) == 0 {
		key("Runtime", "none found")
	}
	key("Probe Hits", "%d", m.Hits)
	if e := m.Edges; e.Derived > 0 {
		key("Ends Derived", "%s", EndsDerived(e))
		if x := derivedEnds(o.p); x != nil {
			key("Derived Times", "%s", endsText(x))
		}
	}
	o.budgetHeader(key)
	key("Probe Cost", "%s", limits.CostText(o.p, o.Clock))
	if t := m.ToolTime; t > 0 {
		key("Tool Cost", "%s", toolText(o.p, o.Clock))
	}
	if o.noCore {
		key("Without Core", "%s", noCoreText(o.p, classSums(o.p, o.Rules).NoCore, func(t int64) string { return words.Percent(analysis.Ratio(t, analysis.ThreadTime(o.p))) }))
	}
	key("Times", "%s", limits.TimesText(o.p, o.Raw))
	if m.TakenOut > 0 {
		key("Measured", "%s sec of wall time", o.Seconds(limits.MeasuredDuration(o.p), 0))
	}
	key("Lost Events", "%d", m.LostHits)
	key("Probes Missing", "%d", missing)
	key("Partial Regions", "%d", m.Partial)
}

// endHeader passes the lines that say what is not part of the times, and how measurement ended.
func (o *ompp) endHeader(key func(name, format string, args ...any)) {
	m := &o.p.Meta
	switch {
	case m.Off.C > 0:
		key("Switched Off", "%s sec (%s), not part of the duration", o.Seconds(m.Off.T, 0), words.Plural(int(m.Off.C), "time"))
	case m.Off.T > 0: // since before the window of report --delta
		key("Switched Off", "%s, not part of the duration", words.Time(float64(m.Off.T)))
	}
	if m.Stopped.Times > 0 {
		key("Stopped", "%s to place probes, %.1f ms in all, %.1f ms at most, not part of any time", words.Plural(int(m.Stopped.Times), "time"),
			float64(m.Stopped.Total)/1e6, float64(m.Stopped.Longest)/1e6)
	}
	if len(m.LeftOut) > 0 {
		key("Left Out", "%s", strings.Join(m.LeftOut, ", "))
	}
	ended := m.Ended
	if ended == "" {
		ended = "not yet"
	}
	if text := limits.SnapshotText(o.p); text != "" {
		ended += "; " + text
	}
	key("How It Ended", "%s", ended)
}

// overview writes the regions by construct.
func (o *ompp) overview() {
	o.banner("Region Overview")
	by := map[event.Construct][]int{}
	last := event.NoConstruct
	for i := range o.p.Regions {
		c := o.p.Regions[i].Construct
		by[c] = append(by[c], i)
		last = max(last, c)
	}
	for c := event.NoConstruct; c <= last; c++ {
		if len(by[c]) == 0 {
			continue
		}
		noun := "region"
		if c == event.MPI {
			noun = "call site"
		}
		o.printf("%s: %s:\n", c, words.Plural(len(by[c]), noun))
		shown, others := o.outline.shownOf(by[c])
		for _, i := range shown {
			o.printf(" * R%05d %s%s\n", i+1, words.Region(&o.p.Regions[i]), runtimeText(o.p, i))
		}
		switch {
		case len(shown) == 0:
			o.printf(" * %s of the time (--all shows them)\n", belowLittle(others, noun))
		case others > 0:
			o.printf(" * %s of the time (--all shows them)\n", joined(others, noun))
		}
		o.printf("\n")
	}
}

// runtimeText names a region's runtime if the process has several.
func runtimeText(p *profile.Profile, region int) string {
	if r := p.Regions[region].Runtime; len(p.Meta.Runtimes) > 1 && r != "" {
		return " [" + words.Clean(r) + "]"
	}
	return ""
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// percent prints a share in ompP's five characters. 100 has one decimal less, to fit its column.
func percent(share float64) string {
	if v := 100 * share; v < 99.995 {
		return words.Decimal(v, 5, 2)
	}
	return words.Decimal(100*share, 5, 1)
}
