package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/profile"
)

// The report names the packages with the debug information of sampled code.
func TestDebugNotes(t *testing.T) {
	p := unseenProfile()
	p.Meta.Sampling = &profile.Sampling{Event: "task-clock", Unit: "ns"}
	p.Objects = []profile.Object{
		{Path: "/lib/libx.so", BuildID: "abcd", Package: "libx1", Debug: "libx1-dbgsym"},
		{Path: "/lib/liby.so", Symbols: true},
		{Path: "/lib/librare.so"},
		{Path: "/bin/x", Symbols: true, Lines: true},
		{Path: "/lib/libc.so.6", Debug: "libc6-dbg"},
		{Path: "/lib/libm.so.6", Symbols: true, Debug: "libc6-dbg"}, // no lines of it are wanted
	}
	for i, weight := range []uint64{600, 190, 1, 9, 100, 100} {
		p.Frames = append(p.Frames, profile.Frame{Object: p.Objects[i].Path, Offset: 1})
		p.Samples = append(p.Samples, profile.Sample{Stack: []int{i}, Count: weight, Weight: weight})
	}
	var b bytes.Buffer
	if err := WriteOmpp(&b, p, Options{}); err != nil {
		t.Fatal(err)
	}
	_, notes, _ := strings.Cut(b.String(), "Files without debug information")
	notes, _, _ = strings.Cut(notes, "\n\n")
	want := ` (DEBUGINFOD_URLS has it fetched):
 * Install libx1-dbgsym (no lines, and names of exported functions only):
    libx.so, 60.0% of the samples, build id abcd
 * Build with -g (no lines):
    liby.so, 19.0% of the samples
 * Install libc6-dbg (names of exported functions only):
    libc.so.6, 10.0% of the samples`
	if notes != want {
		t.Errorf("notes:\n%s\nwant:\n%s", notes, want)
	}
}
