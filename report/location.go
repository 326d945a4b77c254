package report

import (
	"fmt"
	"path"
	"strings"

	"ompp-attach/profile"
)

// locationText renders a place as ompP does, `main.c (53-58)`, with `~` before
// a line that is not exact. Without lines it falls back on the function and
// the place in the object file, which addr2line understands:
// `solve (libfoo.so+0x1234)`, and where that names no function of its own, on the
// nearest around it: `libfoo.so+0x1234 from solve`.
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

// regionText is ompP's LOCATION: the place and, of a construct that can bear
// one, the name.
func regionText(r *profile.Region) string {
	text := locationText(&r.Location)
	switch {
	case r.Name != "" && r.Name == r.Location.Function && (r.Location.File == "" || r.Location.Begin == 0): // it is there
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

// regionLabel names a region within a sentence: `R00005 main.c (53-58)
// (unnamed) CRITICAL`.
func regionLabel(p *profile.Profile, region int) string {
	r := &p.Regions[region]
	return fmt.Sprintf("R%05d %s %s", region+1, regionText(r), r.Construct)
}

// threadText is a thread's number as the TID column shows it: the OpenMP
// thread number, preceded by that of the initial thread where that is not the
// first.
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

// programName is how reports call the program.
func programName(p *profile.Profile) string {
	if p.Meta.Program == "" {
		return "unknown"
	}
	return clean(p.Meta.Program)
}

// clean makes names of the measured program or its files harmless to a line
// of text and to a terminal.
func clean(s string) string { return profile.Pasteable(s) }

// plural returns "1 thread", "2 threads".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
