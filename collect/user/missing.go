package user

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Error says why the user regions cannot be measured as asked for.
type Error struct{ Sentence string }

// Error implements error.
func (e *Error) Error() string { return e.Sentence }

// Refuses returns why the user regions of a process that has loaded its libraries cannot be
// measured as asked for; nil if they can.
func (u *Regions) Refuses() error {
	if u == nil {
		return nil
	}
	if err := u.TooMany(); err != nil {
		return &Error{err.Error()}
	}
	if s := u.Unmatched(); len(s) > 0 {
		return &Error{strings.Join(s, "\n")}
	}
	return nil
}

// TooMany returns an error if more functions were selected than can be probed, else nil.
func (u *Regions) TooMany() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refusal
}

// NotSeen lists two kinds of user regions: those that have no probes, and those that a process
// never reached. regions are the regions of the process's profile.
func (u *Regions) NotSeen(mods []symbols.Module, regions []profile.Region) []profile.Unseen {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	out := slices.Clone(u.unseen)
	seen := map[string]bool{}
	for i := range regions {
		if regions[i].Construct == event.UserRegion {
			seen[regions[i].Name] = true
		}
	}
	var never, inlined []string
	for i := range mods {
		o := mods[i].Object()
		for at, p := range u.places[o] {
			switch {
			case seen[p.Name]:
			case p.Lines == nil && InlinedNote(o, at) != nil:
				inlined = append(inlined, p.Name)
			default:
				never = append(never, p.Name)
			}
		}
	}
	if s := listed(inlined); s != "" {
		out = append(out, profile.Unseen{What: "user regions " + s,
			Reason: "their own code was never reached: the compiler inlined calls of them, which cannot be seen (mark them noinline to see them)"})
	}
	if s := listed(never); s != "" {
		out = append(out, profile.Unseen{What: "user regions " + s, Reason: "they were never reached"})
	}
	return out
}

// listed joins names, at most twenty.
func listed(names []string) string {
	const most = 20
	slices.Sort(names)
	names = slices.Compact(names)
	if n := len(names); n > most {
		names = append(names[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(names, ", ")
}
