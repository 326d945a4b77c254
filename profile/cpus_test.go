package profile

import (
	"maps"
	"strings"
	"testing"

	"ompp-attach/internal/hostile"
)

// Processors read are those written, in the kernel's notation.
func TestCPUs(t *testing.T) {
	for text, want := range map[CPUs]CPUs{
		"": "", "0": "0", "0-3,8": "0-3,8", "0,1,2,4": "0-2,4", "5-6,0-1\n": "0-1,5-6", "x-3,4-y,,2": "2", "70000-70001": "",
	} {
		set := map[int]bool{}
		text.AddTo(set)
		got := CPUsOf(set)
		again := map[int]bool{}
		got.AddTo(again)
		if got != want || !maps.Equal(set, again) {
			t.Errorf("%q: %q, want %q; %v and %v", text, got, want, set, again)
		}
	}
}

// A list that names all processors again and again costs little more than reading its text.
func TestHostileCPUs(t *testing.T) {
	hostile.Within(func() { CPUs(strings.Repeat("0-65535,", 1<<20)).AddTo(map[int]bool{}) })
}
