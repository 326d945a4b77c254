package properties

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// The text is bounded unless the user wants all. The bounds are of findings in detail, of findings
// of one property among them, of further findings in a line each, and of causes.
const (
	inDetail    = 8
	perProperty = 2
	inBrief     = 20
	causes      = 5
)

// worst says in a few sentences which property costs most, where, due to whom, and what helps. The
// properties of the user's own are other orders of the same time, and left out here.
func (t *text) worst(found []severity.Finding) {
	losses := t.c.Losses(found)
	at := slices.IndexFunc(losses, func(l severity.Loss) bool { return t.c.Below(l.Property, t.c.Property(severity.Time)) })
	if at < 0 || analysis.Ratio(losses[at].Time, t.c.ThreadTime) < little {
		t.lines("", "No property below costs a thousandth of the time.")
		return
	}
	l := &losses[at]
	p, first := &t.c.Properties[l.Property], &l.Findings[0]
	costs := "costs"
	if strings.HasPrefix(p.Title(), "Idle threads") {
		costs = "cost"
	}
	text := fmt.Sprintf("%s %s most: %s of %s sec (%s %%), ", t.Clean(p.Title()), costs, t.time(l.Time, l.Estimated), t.Seconds(t.c.ThreadTime), t.share(l.Time))
	place := PathText(t.c, first.Path)
	if n := len(l.Findings); n > 1 {
		text += fmt.Sprintf("at %d places, %s sec of it %s.", n, t.time(first.Time, first.Estimated), preposition(first.Path)+place)
	} else {
		text += preposition(first.Path) + place + "."
	}
	text += " " + p.Description
	if due := t.dueTo(first); due != "" {
		text += " There it is due to " + due + "."
	}
	if helps := t.c.Helps(first); helps != "" {
		text += " What helps: " + helps
	}
	if saves := t.saving(l.Saving); saves != "" {
		text += " Mending this everywhere saves " + saves + "."
	}
	if doubt := t.c.DoubtText(first); doubt != "" {
		text += " But: " + doubt
	}
	t.lines("", text)
}

// preposition leads to the text of a path, which may be "outside of all regions".
func preposition(path int) string {
	if path == 0 {
		return ""
	}
	return "at "
}

// time is a time in seconds, with a mark if it is estimated.
func (t *text) time(ns int64, estimated bool) string {
	if estimated {
		return "~" + t.Seconds(ns)
	}
	return t.Seconds(ns)
}

// findings prints the worst findings in detail, and a line for each further one.
func (t *text) findings(list []severity.Entry) {
	fmt.Fprintf(t, "\nWhat costs time, worst first:\n")
	if len(list) == 0 {
		fmt.Fprintln(t, "\nNothing: no property holds.")
		return
	}
	var rest []*severity.Finding
	told, shown := map[int]int{}, 0
	for i := range list {
		e := &list[i]
		small := analysis.Ratio(e.Time, t.c.ThreadTime) < little
		if !t.All && (small || shown >= inDetail && len(e.Places) == 0 || told[e.Property] == perProperty) {
			rest = append(rest, &e.Finding)
			continue
		}
		t.entry(&e.Finding, t.where(e), told[e.Property] == 0)
		told[e.Property]++
		shown++
	}
	t.further(rest)
}

// where names the call path of an entry, or its places: the first few with their times.
func (t *text) where(e *severity.Entry) string {
	const most = 3
	if len(e.Places) == 0 {
		return PathText(t.c, e.Path)
	}
	var places []string
	for i := range e.Places[:min(most, len(e.Places))] {
		f := &e.Places[i]
		places = append(places, fmt.Sprintf("%s sec %s", t.time(f.Time, f.Estimated), preposition(f.Path)+PathText(t.c, f.Path)))
	}
	where := fmt.Sprintf("%d places: %s", len(e.Places), strings.Join(places, "; "))
	if more := len(e.Places) - most; more > 0 {
		where += fmt.Sprintf("; %d more", more)
	}
	return where
}

// brief is a line of text: findings of a property at call paths that end in the same region.
type brief struct {
	title, place string
	time         int64
	paths        int
	estimated    bool
}

// further prints a line for each finding that is not small, up to a number, and counts the rest.
func (t *text) further(found []*severity.Finding) {
	at := map[[2]int]int{}
	var all []brief
	for _, f := range found {
		place := [2]int{f.Property, t.c.Paths[f.Path].Region}
		k, ok := at[place]
		if !ok {
			k = len(all)
			at[place] = k
			all = append(all, brief{title: t.Clean(t.c.Properties[f.Property].Title()), place: lastText(t.c, f.Path)})
		}
		all[k].time += f.Time
		all[k].paths++
		all[k].estimated = all[k].estimated || f.Estimated
	}
	slices.SortStableFunc(all, func(a, b brief) int { return cmp.Compare(b.time, a.time) })
	lines, left, rest, wide := 0, 0, int64(0), 0
	for _, x := range all {
		if lines == inBrief || analysis.Ratio(x.time, t.c.ThreadTime) < little {
			left += x.paths
			rest += x.time
			continue
		}
		lines++
		wide = max(wide, len(x.title))
	}
	if lines > 0 {
		fmt.Fprintf(t, "\nFurther findings, in short:\n\n")
	}
	for _, x := range all[:lines] {
		if x.paths > 1 {
			x.place += fmt.Sprintf(", on %d call paths", x.paths)
		}
		t.lines(fmt.Sprintf("%s sec  %5s %%  %-*s  ", t.time(x.time, x.estimated), t.share(x.time), wide, x.title), x.place)
	}
	switch {
	case left > 0:
		fmt.Fprintf(t, "\n... and %d more, %s sec together (--all shows all in detail)\n", left, t.Seconds(rest))
	case lines > 0:
		fmt.Fprintf(t, "\n(--all shows all in detail)\n")
	}
}

// entry prints a finding at the places that where names. What helps is printed where a property is
// told of first.
func (t *text) entry(f *severity.Finding, where string, first bool) {
	p := &t.c.Properties[f.Property]
	fmt.Fprintf(t, "\n%s sec  %s %%  %s\n", t.time(f.Time, f.Estimated), t.share(f.Time), t.Clean(p.Title()))
	line := func(key, text string) {
		if text != "" {
			t.lines(fmt.Sprintf("    %-7s ", key), text)
		}
	}
	line("where", where)
	line("who", t.who(f))
	line("of it", t.parts(f))
	line("due to", t.dueTo(f))
	line("saves", t.saving(f.Saving))
	line("doubt", t.c.DoubtText(f))
	if first {
		line("means", p.Description)
	}
	if look := t.c.Diagnosis(f); first || look != p.Diagnosis {
		line("look at", look)
	}
	if helps := t.c.Helps(f); first || helps != p.Helps {
		line("helps", helps)
	}
}

// who says how many threads have the time, and which one most.
func (t *text) who(f *severity.Finding) string {
	most := f.Threads[0]
	if t.c.Level == severity.Whole {
		return ""
	}
	row := "thread"
	if t.c.Level == severity.ByProcess {
		row = "rank"
	}
	known := 0
	for _, x := range f.Threads {
		if t.c.Threads[x.Thread].Num != profile.UnknownNum {
			known++
		}
	}
	text := fmt.Sprintf("%d of %s", known, words.Plural(t.known(), row))
	if known < len(f.Threads) { // the same threads, while their numbers were not known
		text += ", and row ?"
	}
	if row == "thread" && len(t.c.Processes) > 1 {
		ranks := map[int]bool{}
		for _, x := range f.Threads {
			ranks[t.c.Threads[x.Thread].Process] = true
		}
		text += fmt.Sprintf(", of %d of %s", len(ranks), words.Plural(len(t.c.Processes), "rank"))
	}
	return text + fmt.Sprintf("; most: %s %s, %s sec", row, ThreadText(t.c, most.Thread), t.Seconds(most.Time))
}

// parts says what the time is made of, if there are several parts.
func (t *text) parts(f *severity.Finding) string {
	var parts []string
	if len(f.Parts) == 1 && f.Parts[0].Time == f.Time {
		return "" // the title says that
	}
	for _, p := range f.Parts {
		mark := ""
		if p.Mark&(severity.Estimated|severity.Derived) != 0 {
			mark = "~"
		}
		parts = append(parts, fmt.Sprintf("%s %s%s sec", uncapitalized(t.c.Properties[p.Property].Name), mark, t.Seconds(p.Time)))
	}
	return strings.Join(parts, ", ")
}

// uncapitalized returns a property's name as it stands within a sentence: names like MPI, or N x N,
// keep their capitals.
func uncapitalized(name string) string {
	first, _, _ := strings.Cut(name, " ")
	if len(first) < 2 || strings.ToLower(first[1:]) != first[1:] {
		return name
	}
	return strings.ToLower(first[:1]) + name[1:]
}

func (t *text) saving(s severity.Saving) string {
	if !s.Known {
		return ""
	}
	p := &t.c.Processes[s.Process]
	of := "the run's " + t.Seconds(p.Wall) + " sec"
	if len(t.c.Processes) > 1 {
		of = fmt.Sprintf("rank %d's %s sec, and no more of any other rank's, besides less waiting in MPI", p.Rank, t.Seconds(p.Wall))
	}
	return "at most " + t.Seconds(s.Time) + " of " + of
}
