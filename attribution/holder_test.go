package attribution

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Where the kernel side has added up executions of a lock routine, the locks are not known. So
// nobody is said to have held them. The executions are counted. A critical's lock is known.
func TestHolderNotKnown(t *testing.T) {
	for _, tt := range []struct {
		construct event.Construct
		want      string // of thread 1, which waited
	}{
		{event.Lock, " dropped 0 no holder 30/4"},
		{event.Critical, "contended 20/4 handed 10 held 0/0 shared 20"},
	} {
		events := parse(t, `
			0 1 fork parallel fn=300 key=7 size=2 site=90
			0 1 begin parallel key=7
			0 2 begin parallel key=7 num=1
			101 1 end parallel
			101 2 end parallel
			110 1 join parallel`)
		folds := []event.Event{
			{Time: 10, PID: 1, TID: 1, Construct: tt.construct, Edge: event.Folded, Runtime: event.Gomp, Site: 0x400,
				Fold: &event.Fold{Executions: 2, Bodies: 2, Hits: 4, Last: 90, Body: 20}},
			{Time: 20, PID: 1, TID: 2, Construct: tt.construct, Edge: event.Folded, Runtime: event.Gomp, Site: 0x400,
				Fold: &event.Fold{Executions: 4, Bodies: 4, Hits: 12, Last: 100, Enter: 30, Body: 20}},
		}
		events = slices.Insert(events, 3, folds...)
		got := ""
		for _, line := range waitTable(replay(events, 1000)) {
			if strings.Contains(line, tt.construct.String()) && strings.Contains(line, " 0:1 ") {
				got = line
			}
		}
		if !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.construct, got, tt.want)
		}
	}
}

// No holder is known of locks used at more places than are kept, and of uses before a barrier that
// cannot be matched.
func TestHolderNotKnownOfMany(t *testing.T) {
	text := "0 1 fork parallel fn=300 key=7 size=2 site=90\n0 1 begin parallel key=7\n0 2 begin parallel key=7 num=1\n"
	const places = 20
	for i := range places {
		at := 10 * (i + 1)
		text += fmt.Sprintf("%d 2 enter critical site=%d\n%d 2 acquired critical\n%d 2 release critical free noret\n", at, 400+i, at+3, at+5)
	}
	end := "500 1 end parallel\n500 2 end parallel%s\n510 1 join parallel"
	for _, tt := range []struct {
		name, lost string
		want       uint64
	}{{"too many places", "", places - 16}, {"events lost", " lost=2", places}} {
		p := replay(parse(t, text+fmt.Sprintf(end, tt.lost)), 1000)
		var all profile.Waits
		for _, n := range p.Nodes {
			for _, s := range n.Stats {
				all = *all.Plus(&profile.Waits{})
				if s.Waits != nil {
					all = *all.Plus(s.Waits)
				}
			}
		}
		if all.NoHolder != (profile.Sum{T: 3 * int64(tt.want), C: tt.want}) || all.Handed != 3*int64(places-tt.want) {
			t.Errorf("%s: of %+v no holder is known, want %d; %d ns handed over", tt.name, all.NoHolder, tt.want, all.Handed)
		}
	}
}
