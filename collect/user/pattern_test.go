package user

import (
	"strings"
	"testing"

	"ompp-attach/symbols"
)

func TestPatterns(t *testing.T) {
	solve := []string{"ns::Grid::solve", "ns::Grid::solve(int)", "_ZN2ns4Grid5solveEi"}
	for _, tc := range []struct {
		text  string
		names []string
		want  bool
	}{
		{"solve", solve, true},
		{"Grid::solve", solve, true},
		{"ns::Grid::solve", solve, true},
		{"_ZN2ns4Grid5solveEi", solve, true},
		{"ns::", solve, true},
		{"olve", solve, false},
		{"Grid", solve, false},
		{"solve", []string{"resolve"}, false},
		{"solve.", solve, true}, // a regular expression: any part of any name
		{"^solve", solve, false},
		{"^solve$", []string{"solve"}, true},
		{`solve\(int\)$`, solve, true},
		{"lin|solve", []string{"resolver"}, true},
	} {
		p, err := parsePattern(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.matches(tc.names); got != tc.want {
			t.Errorf("%s matches %q: %t, want %t", tc.text, tc.names, got, tc.want)
		}
	}
	for text, want := range map[string]string{"": "names no function", "a@": "no file is named", "(": "no regular expression"} {
		if _, err := parsePattern(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestSuggestions(t *testing.T) {
	p, err := parsePattern("slove")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"main", "solve", "ns::solver", "stove", "entirely_other", "solve"} {
		p.suggest(n)
	}
	if s := p.unmatched(); !strings.Contains(s, "near names: solve, ") || strings.Contains(s, "main") || strings.Contains(s, "other") {
		t.Error(s)
	}
	for _, tc := range []struct {
		a, b string
		want int
	}{{"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abcd", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}} {
		if got := editDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("%s %s: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestParseLines(t *testing.T) {
	for text, want := range map[string]*lineRegion{
		"a=x.c:3-7":             {name: "a", file: "x.c", first: 3, last: 7},
		"a b=d-1/x-y.c:3-x:7":   nil,
		"a=d-1/x.c:3-d-1/x.c:7": {name: "a", file: "d-1/x.c", first: 3, last: 7},
		"a=x.c:7-3":             nil,
		"a=x.c:0-3":             nil,
		"x.c:3-7":               nil,
		"a=x.c:3":               nil,
	} {
		got, err := parseLines(text)
		if (err == nil) != (want != nil) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want != nil && (got.name != want.name || got.file != want.file || got.first != want.first || got.last != want.last) {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if !symbols.SameSource("/a/b/x.c", "./b/x.c") || symbols.SameSource("/a/bb/x.c", "b/x.c") {
		t.Error("sources")
	}
}
