package collect

import (
	"golang.org/x/sys/unix"

	"ompp-attach/collect/target"
	"ompp-attach/collect/user"
)

// checkUser ends a launched program before its first instruction if a function that was asked for
// does not exist and cannot appear later. It cannot if the runtime is there and no code of the
// program loads further libraries. So a misspelt name is told at once, not after hours.
func (lv *lives) checkUser(p *Process, foundRuntime bool) {
	g := p.program
	if lv.wanted.User == nil || g.userChecked {
		return
	}
	g.userChecked = g.userChecked || foundRuntime
	tooMany := lv.wanted.User.TooMany()
	if tooMany == nil && !foundRuntime {
		return
	}
	err := lv.wanted.User.Refuses()
	lv.reader.mu.Lock()
	mods := p.resolver.Modules()
	lv.reader.mu.Unlock()
	switch {
	case err == nil:
	case tooMany == nil && target.MayLoadMore(mods):
		lv.wanted.User.Notice(err.Error() + " so far; what it loads or starts later is searched as well")
	default:
		lv.reader.mu.Lock()
		g.refused = err
		lv.reader.mu.Unlock()
		_ = unix.Kill(int(p.pid), unix.SIGKILL)
	}
}

// SetUserRegions makes the measurement probe user regions. It must be called before the measurement
// starts.
func (m *Measurement) SetUserRegions(u *user.Regions) {
	m.wanted.User = u
	u.Limit(m.kernel.Mode())
	if u.HasLevels() {
		m.placer.plans.Mapped, m.placer.plans.Later = u.SetImporters, u.Later
	}
	for _, f := range u.Finders() {
		m.AddFinder(f)
	}
}
