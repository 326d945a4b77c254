package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/event"
)

// unseenProfile has a program of 1000 ns on one thread with regions of 600 and
// 5 ns, and constructs that were not observed.
func unseenProfile(unseen ...attribution.Unseen) *attribution.Profile {
	region := func(offset uint64) attribution.Region {
		return attribution.Region{Construct: event.Parallel, Location: attribution.Location{Object: "/lib/libx.so", Offset: offset}}
	}
	stats := func(t int64) []attribution.ThreadStats {
		return []attribution.ThreadStats{{Exec: attribution.Span{T: t, C: 1}, Body: attribution.Span{T: t, C: 1}}}
	}
	return &attribution.Profile{Version: attribution.SchemaVersion, Meta: attribution.Meta{Program: "x", Duration: 1000},
		Threads: []attribution.Thread{{}}, Regions: []attribution.Region{region(0x100), region(0x200)},
		Nodes:  []attribution.Node{{Parent: -1, Region: -1}, {Region: 0, Stats: stats(600)}, {Region: 1, Stats: stats(5)}},
		Unseen: unseen}
}

// What could not be observed is told once per function and file, and on the console
// by what it matters.
func TestUnseen(t *testing.T) {
	const reason = "the source would tell"
	loop := func(function string, offset uint64) attribution.Unseen {
		return attribution.Unseen{What: "LOOP", Reason: reason, Function: function, Object: "/lib/libx.so", Offset: offset, Body: true}
	}
	atomics := attribution.Unseen{What: "atomic (GCC)", Reason: "plain instructions", Possible: true}
	for _, tc := range []struct {
		name    string
		unseen  []attribution.Unseen
		notes   []string
		console string
	}{
		{"what matters", []attribution.Unseen{loop("solve", 0x100), loop("solve", 0x100), loop("", 0x200), loop("gone", 0x300), atomics},
			[]string{" * The source would tell:\n    LOOP in solve (libx.so), in code with 60.0% of the time (2 times)\n" +
				"    LOOP in libx.so+0x200, in code with less than 1% of the time\n    1 construct in code that was not found running\n",
				" * atomic (GCC): plain instructions\n"},
			"LOOP in solve (libx.so), in code with 60.0% of the time; 2 constructs in code with less than 1% of the time; if it has any: atomic (GCC) (their time is in the regions around them)\n"},
		{"nothing that matters", []attribution.Unseen{loop("", 0x200)},
			[]string{"    LOOP in libx.so+0x200, in code with less than 1% of the time\n"},
			"nothing that matters: 1 construct in code with less than 1% of the time\n"},
		{"not placed", []attribution.Unseen{{What: "marker m", Reason: "its note is wrong"}},
			[]string{" * marker m: its note is wrong\n"}, "marker m\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := unseenProfile(tc.unseen...)
			if err := attribution.Validate(p); err != nil {
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
