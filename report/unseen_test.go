package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// unseenProfile is a program of 1000 ns on one thread, with regions of 600 and 5 ns, and with
// constructs that were not observed.
func unseenProfile(unseen ...profile.Unseen) *profile.Profile {
	region := func(offset uint64) profile.Region {
		return profile.Region{Construct: event.Parallel, Location: profile.Location{Object: "/lib/libx.so", Offset: offset}}
	}
	stats := func(t int64) []profile.ThreadStats {
		return []profile.ThreadStats{{Exec: profile.Sum{T: t, C: 1}, Body: profile.Sum{T: t, C: 1}}}
	}
	return &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Target: profile.Target{Program: "x"}, Life: profile.Life{Duration: 1000}},
		Threads: []profile.Thread{{}}, Regions: []profile.Region{region(0x100), region(0x200)},
		Nodes:  []profile.Node{{Parent: -1, Region: -1}, {Region: 0, Stats: stats(600)}, {Region: 1, Stats: stats(5)}},
		Unseen: unseen}
}

// Code that could not be observed is named once for each function and file. The summary names it in
// the order of its share of the time.
func TestUnseen(t *testing.T) {
	const reason = "the source would tell"
	loop := func(function string, offset uint64) profile.Unseen {
		return profile.Unseen{What: "LOOP", Reason: reason, Function: function, Object: "/lib/libx.so", Offset: offset, Body: true}
	}
	atomics := profile.Unseen{What: "atomic (GCC)", Reason: "plain instructions", Possible: true}
	for _, tc := range []struct {
		name    string
		unseen  []profile.Unseen
		notes   []string
		console string
	}{
		{"what matters", []profile.Unseen{loop("solve", 0x100), loop("solve", 0x100), loop("", 0x200), loop("gone", 0x300), atomics},
			[]string{" * The source would tell:\n    LOOP in solve (libx.so), in code with 60.0% of the time (2 times)\n" +
				"    LOOP in libx.so+0x200, in code with less than 1% of the time\n    1 construct in code that was not found running\n",
				" * atomic (GCC): plain instructions\n"},
			"LOOP in solve (libx.so), in code with 60.0% of the time; 2 constructs in code with less than 1% of the time; if it has any: atomic (GCC) (their time is in the regions around them)\n"},
		{"nothing that matters", []profile.Unseen{loop("", 0x200)},
			[]string{"    LOOP in libx.so+0x200, in code with less than 1% of the time\n"},
			"nothing that matters: 1 construct in code with less than 1% of the time\n"},
		{"two reasons", []profile.Unseen{{What: "atomic at a.c (1), a.c (2), a.c (3), a.c (4) and 2 more", Reason: "one"}, {What: "flush at a.c (9)", Reason: "two"},
			{What: "atomic at a.c (5)", Reason: "three"}, {What: "marker m", Reason: "four"}},
			[]string{" * atomic at a.c (5): three\n"},
			"atomic at a.c (1), a.c (2), a.c (3), a.c (4) and 3 more places; flush at a.c (9); marker m\n"},
		{"not placed", []profile.Unseen{{What: "marker m", Reason: "its note is wrong"}},
			[]string{" * marker m: its note is wrong\n"}, "marker m\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := unseenProfile(tc.unseen...)
			if err := profile.Validate(p); err != nil {
				t.Fatal(err)
			}
			var text, console bytes.Buffer
			if err := WriteOmpp(&text, p, Options{}); err != nil {
				t.Fatal(err)
			}
			if err := Summary(&console, p, nil, Options{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.notes {
				if !strings.Contains(text.String(), want) {
					t.Errorf("the report lacks\n%s\nin\n%s", want, text.String())
				}
			}
			if want := "not observed        " + tc.console; !strings.Contains(console.String(), want) {
				t.Errorf("the console lacks\n%s\nin\n%s", want, console.String())
			}
		})
	}
}
