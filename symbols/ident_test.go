package symbols

import "testing"

// TestIdentApart: barriers that cannot belong to a construct, by the descriptions that compilers
// write for both.
func TestIdentApart(t *testing.T) {
	const loop, sections, single, share = 0x42, 0xc2, 0x142, 0x202
	at := func(flags uint32, file string, line, col int) Ident {
		return Ident{Flags: flags, File: file, Line: line, Col: col}
	}
	for _, c := range []struct {
		name           string
		share, barrier Ident
		want           bool
	}{
		{"the same directive", at(share, "a.c", 20, 1), at(loop, "a.c", 20, 1), false},
		{"another line", at(share, "a.c", 20, 1), at(loop, "a.c", 22, 1), true},
		{"another column", at(share, "a.c", 20, 1), at(loop, "a.c", 20, 9), true},
		{"another file", at(share, "a.h", 20, 1), at(loop, "a.c", 20, 1), true},
		{"first and last lines, of Intel", at(share, "a.c", 20, 25), at(loop, "a.c", 25, 25), false},
		{"what may be last lines", at(share, "a.c", 3, 7), at(loop, "a.c", 5, 7), false},
		{"of one at least they are columns", at(share, "a.c", 3, 7), at(loop, "a.c", 8, 7), true},
		{"no lines", at(share, "", 0, 0), at(loop, "", 0, 0), false},
		{"lines of one only", at(share, "a.c", 20, 1), at(loop, "", 0, 0), false},
		{"no lines, of a single", at(share, "", 0, 0), at(single, "", 0, 0), true},
		{"no lines, of sections that are told as a loop", at(share, "", 0, 0), at(sections, "", 0, 0), false},
		{"no lines, a single and its barrier", at(2, "", 0, 0), at(single, "", 0, 0), false},
	} {
		if got := c.share.Apart(&c.barrier); got != c.want {
			t.Errorf("%s: apart %t, want %t", c.name, got, c.want)
		}
	}
}
