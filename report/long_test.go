package report

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
)

// longRun is the profile of a program that ran for years, or on a large machine. Its counts fit
// into no 32-bit number and no float64, and its times have 12 digits.
func longRun() *profile.Profile {
	b := reporttest.NewBuilder("long", 1e8)
	b.Team(0, 2)
	par, crit := b.Region(event.Parallel, reporttest.Lines(1, 9)), b.Region(event.Critical, reporttest.Lines(3, 4))
	const time = 9e7
	rows := func(c uint64) []reporttest.Row {
		return []reporttest.Row{{Thread: 0, Enter: 1, Body: time, Exit: 1, C: c}, {Thread: 1, Enter: 2, Body: time, Exit: 1, C: c + 2}}
	}
	top := b.Node(0, par, map[int]float64{0: time}, rows(1<<32+1)...)
	b.Node(top, crit, nil, rows(1<<53+1)...)
	b.P.Meta.Hits = math.MaxUint64
	return b.P
}

// Reports show every digit, and their columns stay aligned.
func TestLongRuns(t *testing.T) {
	p := longRun()
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	render := func(f func(io.Writer, *profile.Profile, Options) error) string {
		t.Helper()
		var out bytes.Buffer
		if err := f(&out, p, Options{}); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	text := render(WriteOmpp)
	for _, n := range []uint64{1<<32 + 1, 1<<53 + 1, 1<<53 + 3, 1<<54 + 4, math.MaxUint64} {
		if !strings.Contains(text, " "+strconv.FormatUint(n, 10)) {
			t.Errorf("%d is not in the text report", n)
		}
	}
	ends := map[int]bool{} // the ends of columns in the table of overheads
	for line := range strings.Lines(text) {
		switch first := strings.Index(line, "("); {
		case strings.Contains(line, "Ovhds (%)"): // ompP's titles stand four to the right
			ends[first-4] = true
		case strings.Count(line, "(") == 5 && !strings.Contains(line, "=") && strings.Contains(line, "."):
			ends[first] = true
		}
	}
	if len(ends) != 1 {
		t.Errorf("columns of the overheads end at %v", ends)
	}
	var file bytes.Buffer
	if err := profile.Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	back, err := profile.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := mustJSON(t, p), mustJSON(t, back); a != b {
		t.Errorf("recorded and read again:\n%s\nwas\n%s", b, a)
	}
	for _, f := range Formats {
		for _, file := range f.Outputs(p, Options{}) { // no format fails
			if err := file.Write(io.Discard); err != nil {
				t.Error(err)
			}
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
