package words

import (
	"fmt"
	"path"
	"strings"

	"ompp-attach/profile"
)

// Location renders a place as ompP does, `main.c (53-58)`, with `~` before a line that is not
// exact. A place without lines is shown as function and offset in its file, `solve
// (libfoo.so+0x1234)`, which addr2line understands. If the function has no name, the nearest named
// function around it is shown: `libfoo.so+0x1234 from solve`.
func Location(l *profile.Location) string {
	if l.File != "" && l.Begin > 0 {
		lines := Mark(l.Mark) + fmt.Sprint(l.Begin)
		if l.End > 0 && l.End != l.Begin {
			lines += "-" + Mark(l.EndMark) + fmt.Sprint(l.End)
		}
		return fmt.Sprintf("%s (%s)", Clean(path.Base(l.File)), lines)
	}
	function := Clean(profile.Brief(l.Function))
	place := ""
	if l.Object != "" {
		place = fmt.Sprintf("%s+%#x", Clean(path.Base(l.Object)), l.Offset)
	}
	text := "(unknown place)"
	switch {
	case l.Function != "" && place != "":
		text = fmt.Sprintf("%s%s (%s)", Mark(l.Mark), function, place)
	case l.Function != "" && l.Offset != 0:
		text = fmt.Sprintf("%s%s+%#x", Mark(l.Mark), function, l.Offset)
	case l.Function != "":
		text = Mark(l.Mark) + function
	case place != "":
		text = Mark(l.Mark) + place
	case l.File != "":
		text = Clean(path.Base(l.File))
	}
	if l.From != "" {
		text += " from " + Clean(profile.Brief(l.From))
	}
	return text
}

// Mark returns what stands before a line or function: "~" if it is approximate.
func Mark(m profile.Mark) string {
	if m == profile.Approx {
		return "~"
	}
	return ""
}

// IsApprox reports whether Location prints a `~` for l.
func IsApprox(l *profile.Location) bool { return strings.Contains(Location(l), "~") }

// Region is ompP's LOCATION: the place, and the name if the construct can have one.
func Region(r *profile.Region) string {
	text := Location(&r.Location)
	switch {
	case r.Level != "":
		text += " (" + Clean(r.Level) + ": " + Clean(r.Name) + ")"
	case r.Name != "" && r.Name == r.Location.Function && (r.Location.File == "" || r.Location.Begin == 0):
		// The function is shown already.
	case r.Name != "":
		text += " (" + Clean(r.Name) + ")"
	case r.Construct.CanBeNamed():
		text += " (unnamed)"
	}
	if r.Merged != "" {
		text += " (merged with " + Clean(r.Merged) + ")"
	}
	return text
}

// Label names a region within a sentence: `R00005 main.c (53-58) (unnamed) CRITICAL`.
func Label(p *profile.Profile, region int) string {
	r := &p.Regions[region]
	return fmt.Sprintf("R%05d %s %s", region+1, Region(r), r.Construct)
}

// Thread is a thread's number in the TID column: the OpenMP thread number. If the thread
// belongs to an initial thread that is not the first one, the initial thread's number comes first.
func Thread(t profile.Thread) string {
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

// Program is the program's name in reports.
func Program(p *profile.Profile) string {
	if p.Meta.Program == "" {
		return "unknown"
	}
	return Clean(p.Meta.Program)
}
