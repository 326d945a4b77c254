package places

import (
	"strings"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/regions"
)

// TestImplicit: the note on an implicit barrier that is shown by itself depends on whether a probe
// can see its construct begin.
func TestImplicit(t *testing.T) {
	calls := regions.Region{Construct: event.Loop, Sites: []regions.Site{{Call: "GOMP_loop_dynamic_start", Start: true}, {Call: "GOMP_loop_end"}}}
	probed := regions.Region{Construct: event.Loop, Sites: []regions.Site{{Call: "GOMP_barrier", Start: true}}, Enter: []regions.Point{{Addr: 1}}}
	silent := regions.Region{Construct: event.Loop, Sites: probed.Sites}
	unknown := regions.Region{Construct: event.Barrier, Implicit: true, Sites: probed.Sites}
	for _, c := range []struct {
		what     string
		region   regions.Region
		runtime  event.Runtime
		inlining bool
		want     string
	}{
		{"GCC's dynamic loop", calls, event.Gomp, true, noteMissed},
		{"GCC's static loop with probes", probed, event.Gomp, true, notePassedBy},
		{"the same with --no-inline", probed, event.Gomp, false, noteNoCall},
		{"GCC's static loop without probes", silent, event.Gomp, true, noteNoCall},
		{"GCC's, without the source", unknown, event.Gomp, true, noteNoCall},
		{"clang's loop", calls, event.Kmpc, true, noteClangsOwn},
	} {
		for leaves, want := range map[bool]string{false: c.want, true: noteLeftOut} {
			r := &Resolver{Wanted: Wanted{Inlining: c.inlining, LeavesWorksharing: leaves}}
			if got := r.implicit(&c.region, c.runtime); got != want {
				t.Errorf("%s, worksharing left out %t: %q, want %q", c.what, leaves, got, want)
			}
		}
	}
}

// TestNotesArePlain: notes are sentences that are read at once, and none has a colon before another
// one: the report puts one behind the note.
func TestNotesArePlain(t *testing.T) {
	const mostWords = 25
	for _, note := range []string{noteNoCall, noteMissed, notePassedBy, noteClangsOwn, noteLeftOut, noteTold, noteWhole, noteOwnLines, attribution.NoteInline} {
		for sentence := range strings.SplitSeq(note, ". ") {
			if n := len(strings.Fields(sentence)); n > mostWords || strings.Count(sentence, ":") > 1 {
				t.Errorf("a sentence of %d words: %s", n, sentence)
			}
		}
	}
}

// TestUnseenSite: where the call of a lock or critical section was not seen, no other place is
// named, not even the lock's.
func TestUnseenSite(t *testing.T) {
	for _, construct := range []event.Construct{event.Critical, event.Lock, event.NestLock} {
		k := attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: construct, Runtime: event.Kmpc}, Fn: 0x5180}
		reg := (&Resolver{bound: map[uint64]place{k.Fn: {}}}).Region(k)
		if reg.Location != (profile.Location{}) || len(reg.Notes) != 1 || reg.Notes[0] != noteNoSite {
			t.Errorf("%s: %+v, notes %q", construct, reg.Location, reg.Notes)
		}
	}
}
