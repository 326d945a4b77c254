package report

import (
	"fmt"
	"path"
	"strings"

	"ompp-attach/profile"
)

// locationText renders a place as ompP does, `main.c (53-58)`, with `~` before a line that is not
// exact. A place without lines is shown as function and offset in its file, `solve
// (libfoo.so+0x1234)`, which addr2line understands. If the function has no name, the nearest named
// function around it is shown: `libfoo.so+0x1234 from solve`.
func locationText(l *profile.Location) string {
	if l.File != "" && l.Begin > 0 {
		lines := mark(l.Mark) + fmt.Sprint(l.Begin)
		if l.End > 0 && l.End != l.Begin {
			lines += "-" + mark(l.EndMark) + fmt.Sprint(l.End)
		}
		return fmt.Sprintf("%s (%s)", clean(path.Base(l.File)), lines)
	}
	place := ""
	if l.Object != "" {
		place = fmt.Sprintf("%s+%#x", clean(path.Base(l.Object)), l.Offset)
	}
	text := "(unknown place)"
	switch {
	case l.Function != "" && place != "":
		text = fmt.Sprintf("%s%s (%s)", mark(l.Mark), clean(l.Function), place)
	case l.Function != "" && l.Offset != 0:
		text = fmt.Sprintf("%s%s+%#x", mark(l.Mark), clean(l.Function), l.Offset)
	case l.Function != "":
		text = mark(l.Mark) + clean(l.Function)
	case place != "":
		text = mark(l.Mark) + place
	case l.File != "":
		text = clean(path.Base(l.File))
	}
	if l.From != "" {
		text += " from " + clean(l.From)
	}
	return text
}

func mark(m profile.Mark) string {
	if m == profile.Approx {
		return "~"
	}
	return ""
}

// isApprox reports whether locationText prints a `~` for l.
func isApprox(l *profile.Location) bool { return strings.Contains(locationText(l), "~") }

// regionText is ompP's LOCATION: the place, and the name if the construct can have one.
func regionText(r *profile.Region) string {
	text := locationText(&r.Location)
	switch {
	case r.Name != "" && r.Name == r.Location.Function && (r.Location.File == "" || r.Location.Begin == 0): // shown already
	case r.Name != "":
		text += " (" + clean(r.Name) + ")"
	case r.Construct.CanBeNamed():
		text += " (unnamed)"
	}
	if r.Merged != "" {
		text += " (merged with " + clean(r.Merged) + ")"
	}
	return text
}

// regionLabel names a region within a sentence: `R00005 main.c (53-58) (unnamed) CRITICAL`.
func regionLabel(p *profile.Profile, region int) string {
	r := &p.Regions[region]
	return fmt.Sprintf("R%05d %s %s", region+1, regionText(r), r.Construct)
}

// threadText is a thread's number in the TID column: the OpenMP thread number. If the thread
// belongs to an initial thread that is not the first one, the initial thread's number comes first.
func threadText(t profile.Thread) string {
	num := fmt.Sprint(t.Num)
	if t.Num == profile.UnknownNum {
		num = "?"
	}
	if t.Joined > 1 {
		num += fmt.Sprintf(" x%d", t.Joined)
	}
	if t.Root > 0 {
		return fmt.Sprintf("%d:%s", t.Root, num)
	}
	return num
}

// programName is the program's name in reports.
func programName(p *profile.Profile) string {
	if p.Meta.Program == "" {
		return "unknown"
	}
	return clean(p.Meta.Program)
}

// clean makes a name of the measured program or of its files harmless to a line of text and to a
// terminal.
func clean(s string) string { return profile.Pasteable(s) }

// plural returns "1 thread", "2 threads".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
