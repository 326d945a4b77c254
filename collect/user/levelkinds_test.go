package user

import (
	"fmt"
	"slices"
	"testing"

	"ompp-attach/event"
)

// Levels that share a library are one kind. Beyond the kinds that events can tell apart, the levels
// go with the last kind, whose name has them all.
func TestLevelKinds(t *testing.T) {
	u := &Regions{}
	for _, c := range []struct {
		levels []string
		kind   int
		name   string
	}{
		{[]string{"blas"}, 1, "level blas"},
		{[]string{"scalapack", "blacs"}, 2, "levels blacs, scalapack together"},
		{[]string{"blas"}, 1, "level blas"},
		{[]string{"blacs", "scalapack"}, 2, "levels blacs, scalapack together"},
		{[]string{"blacs"}, 3, "level blacs"},
		{[]string{"blas", "blas"}, 1, "level blas"}, // two libraries' names for one level
	} {
		kind := u.kinds.of(c.levels)
		name, _ := u.GroupName(event.LevelGroup(kind))
		if kind != c.kind || name != c.name {
			t.Errorf("%q: kind %d, %s; want %d, %s", c.levels, kind, name, c.kind, c.name)
		}
	}
	for i := 4; i <= event.LevelKinds; i++ {
		if kind := u.kinds.of([]string{fmt.Sprint("l", i)}); kind != i {
			t.Errorf("level %d is of kind %d", i, kind)
		}
	}
	for _, more := range []string{"x", "a", "x"} {
		if kind := u.kinds.of([]string{more}); kind != event.LevelKinds {
			t.Errorf("%s is of kind %d", more, kind)
		}
	}
	name, levels := u.GroupName(event.LevelGroup(event.LevelKinds))
	if want := []string{"a", fmt.Sprint("l", event.LevelKinds), "x"}; !slices.Equal(levels, want) || name != "levels a, l16, x together" {
		t.Errorf("the last kind is %q, %q; want %q", name, levels, want)
	}
	for g, want := range map[event.Group]string{event.GroupUser: "user regions", event.GroupLock: "lock"} {
		if name, levels := u.GroupName(g); name != want || levels != nil {
			t.Errorf("%q, %q; want %q", name, levels, want)
		}
	}
	if name, _ := (*Regions)(nil).GroupName(event.GroupUser); name != "user regions" {
		t.Errorf("without user regions: %q", name)
	}
}
