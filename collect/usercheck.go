package collect

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// UserError says why the user regions cannot be measured as asked for.
type UserError struct{ Sentence string }

// Error implements error.
func (e *UserError) Error() string { return e.Sentence }

// refuses returns why the user regions of a process that has loaded its libraries cannot be
// measured as asked for; nil if they can.
func (u *UserRegions) refuses() error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	err := u.refusal
	u.mu.Unlock()
	if err != nil {
		return &UserError{err.Error()}
	}
	if s := u.Unmatched(); len(s) > 0 {
		return &UserError{strings.Join(s, "\n")}
	}
	return nil
}

// checkUser ends a launched program before its first instruction if a function that was asked for
// does not exist and cannot appear later. It cannot if the runtime is there and no code of the
// program loads further libraries. So a misspelt name is told at once, not after hours.
func (m *Measurement) checkUser(p *Process, foundRuntime bool) {
	g := p.program
	if m.user == nil || g.userChecked {
		return
	}
	g.userChecked = g.userChecked || foundRuntime
	m.user.mu.Lock()
	tooMany := m.user.refusal
	m.user.mu.Unlock()
	if tooMany == nil && !foundRuntime {
		return
	}
	err := m.user.refuses()
	m.mu.Lock()
	mods := p.resolver.mods
	m.mu.Unlock()
	switch {
	case err == nil:
	case tooMany == nil && loadsMore(mods):
		m.user.Notice(err.Error() + " so far; what it loads or starts later is searched as well")
	default:
		m.mu.Lock()
		g.refused = err
		m.mu.Unlock()
		_ = unix.Kill(int(p.pid), unix.SIGKILL)
	}
}

// loadsMore tells whether a program's own code may load libraries or start other programs.
func loadsMore(mods []symbols.Module) bool {
	calls := []string{"dlopen", "dlmopen", "fork", "vfork", "system", "popen", "execl", "execle", "execlp", "execv", "execve",
		"execvp", "execvpe", "posix_spawn", "posix_spawnp"}
	return slices.ContainsFunc(mods, func(m symbols.Module) bool {
		return (m.Object().IsExecutable() || !target.IsSystem(m.Path)) && slices.ContainsFunc(calls, m.Object().Imports)
	})
}

// notSeen lists the user regions that have no probes, and those that were never reached in a
// process whose profile has the given regions.
func (u *UserRegions) notSeen(mods []symbols.Module, regions []profile.Region) []profile.Unseen {
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
			case seen[p.name]:
			case p.lines == nil && inlinedNote(o, at) != nil:
				inlined = append(inlined, p.name)
			default:
				never = append(never, p.name)
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

// probed tells whether a process has probes in its own code.
func (m *Measurement) probed(p *Process) bool {
	m.scanning.Lock()
	defer m.scanning.Unlock()
	for _, pl := range p.code {
		if pl.link != nil {
			return true
		}
	}
	return false
}
