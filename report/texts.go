package report

import (
	"fmt"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/limits"
	"ompp-attach/report/words"
)

// The functions below give other ways to show a profile the sentences of the text report.

// View returns the profile with the times that the options ask for.
func (o Options) View(p *profile.Profile) *profile.Profile { return o.view(p) }

// Note is a subject of the measurement notes. Title is empty if Items are sentences.
type Note struct {
	Title string   `json:"title,omitempty"`
	Items []string `json:"items,omitempty"`
}

// Notes returns what was lost, what could not be seen, and which figures need an explanation. The
// profile is a view (see Options.View).
func Notes(p *profile.Profile, options Options) (out []Note) {
	options.All = true
	o := texts(p, options)
	for _, part := range o.noteParts() {
		var n Note
		for i, line := range part {
			item, isItem := strings.CutPrefix(line, " * ")
			if i == 0 && len(part) > 1 && !isItem && strings.HasPrefix(part[1], " * ") {
				n.Title = words.Clean(line)
				continue
			}
			n.Items = append(n.Items, cleanLines(item))
		}
		if n.Title != "" || len(n.Items) > 0 {
			out = append(out, n)
		}
	}
	return out
}

// Fact is a line of the text report's header.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Facts returns the lines of the header. The profile is a view.
func Facts(p *profile.Profile, options Options) (out []Fact) {
	texts(p, options).facts(func(name, format string, args ...any) {
		out = append(out, Fact{name, words.Clean(fmt.Sprintf(format, args...))})
	})
	return out
}

// Rough says where times are rough, in one sentence for each reason: probes took much of them, or
// tasks were not observed.
func Rough(p *profile.Profile) (out []string) {
	for _, text := range []string{limits.MuchProbed(p, 4), limits.TasksAway(p, 4)} {
		if text != "" {
			out = append(out, words.Clean(text))
		}
	}
	return out
}

// EndsDerived says how many ends of calls were derived.
func EndsDerived(e profile.Edges) string {
	return fmt.Sprintf("%d of %d: begins behind a fork, ends of barriers, joins (estimates: --derive-edges)", e.Derived, e.All)
}

// HotLineText names a line that was sampled in a region.
func HotLineText(p *profile.Profile, region int, l analysis.HotLine) string {
	return (&ompp{p: p}).lineText(region, l)
}

func texts(p *profile.Profile, options Options) *ompp {
	return &ompp{p: p, Options: options, Clock: options.clock(p), mpi: usesMPI(p), noCore: showsNoCore(p, options.Rules),
		formulas: options.evaluators(p), outline: findOutline(p, options)}
}

// cleanLines makes each line of a text harmless.
func cleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = words.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
