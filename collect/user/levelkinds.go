package user

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
)

// levelKinds are the kinds of levels. --max-overhead removes and places the probes of a kind
// together. The value has the names of the levels by kind. Levels that share a library are one
// kind, because the probes of one level also tell where calls of the other levels came from. A
// level that has one library to itself and shares another one is of two kinds.
type levelKinds [][]string

// of returns the kind, from 1, of a library's functions. names are the levels of the library. When
// as many kinds are known as events can tell apart, all others go with the last one.
func (k *levelKinds) of(names []string) int {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if i := slices.IndexFunc(*k, func(have []string) bool { return slices.Equal(have, names) }); i >= 0 {
		return i + 1
	}
	if len(*k) < event.LevelKinds {
		*k = append(*k, names)
		return len(*k)
	}
	last := &(*k)[event.LevelKinds-1]
	*last = slices.Compact(slices.Sorted(slices.Values(slices.Concat(*last, names))))
	return event.LevelKinds
}

// LevelsOf returns the names of the levels of a kind, from 1; nil if there is no such kind.
func (u *Regions) LevelsOf(kind int) []string {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if kind < 1 || kind > len(u.kinds) {
		return nil
	}
	return slices.Clone(u.kinds[kind-1])
}

// GroupName returns the name of a group of constructs for the user. levels are those of the group;
// nil: it has none.
func (u *Regions) GroupName(g event.Group) (name string, levels []string) {
	levels = u.LevelsOf(g.Constructs().LevelKind())
	switch len(levels) {
	case 0:
		return g.String(), nil
	case 1:
		return "level " + levels[0], levels
	}
	return fmt.Sprintf("levels %s together", strings.Join(levels, ", ")), levels
}
