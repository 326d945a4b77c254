package places

import (
	"os"
	"strings"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/symbols"
)

// TestUnloadedLibrary: events may be applied after their library was unloaded. The file is found
// all the same, unless another file has covered a part of its addresses since.
func TestUnloadedLibrary(t *testing.T) {
	mod := func(path string, start, end uint64) symbols.Module {
		return symbols.Module{Path: path, Start: start, End: end}
	}
	program, plugin := mod("program", 0x1000, 0x3000), mod("plugin", 0x5000, 0x8000)
	newResolver := func(lists ...[]symbols.Module) *Resolver {
		r := NewResolver(symbols.NewProcess(os.Getpid()), Wanted{})
		for _, mods := range lists {
			r.SetModules(mods)
		}
		return r
	}
	alone := []symbols.Module{program}
	loaded := []symbols.Module{program, plugin}
	for _, c := range []struct {
		what  string
		lists [][]symbols.Module
		want  string
	}{
		{"loaded", [][]symbols.Module{alone, loaded}, "plugin"},
		{"unloaded", [][]symbols.Module{loaded, alone}, "plugin"},
		{"unloaded long ago", [][]symbols.Module{loaded, alone, alone, alone}, "plugin"},
		{"replaced", [][]symbols.Module{loaded, alone, {program, mod("other", 0x4000, 0x7000)}}, "other"},
		{"in the part that another library leaves", [][]symbols.Module{loaded, alone, {program, mod("other", 0x7000, 0x9000)}}, ""},
		{"replaced by a library that was unloaded, too", [][]symbols.Module{loaded, {program, mod("other", 0x4000, 0x7000)}, alone}, "other"},
	} {
		if got := newResolver(c.lists...).FileOf(0x6000); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	r := newResolver(loaded, alone)
	r.Bind(0x6000)
	if got, known := r.bound[0x6000]; known {
		t.Errorf("bound to %+v, of a file that is not mapped", got)
	}
	// A file that was mapped since the last listing counts, not the unloaded one.
	mapped, err := symbols.Modules(os.Getpid())
	if err != nil || len(mapped) == 0 {
		t.Fatal(err)
	}
	r = newResolver([]symbols.Module{mod("plugin", mapped[0].Start, mapped[0].End)}, alone)
	if got := r.FileOf(mapped[0].Start); got != mapped[0].Path {
		t.Errorf("a file that was mapped since: %q, want %q", got, mapped[0].Path)
	}
	// Asking for an address in no file lists the modules anew.
	r = newResolver(loaded)
	if got := r.FileOf(0x10); got != "" {
		t.Errorf("an address in no file lies in %q", got)
	}
	if got := r.FileOf(0x6000); got != "plugin" {
		t.Errorf("after the modules were listed anew: %q", got)
	}
}

// The report says if other code is loaded over constructs that were seen.
func TestCoveredConstructs(t *testing.T) {
	mod := func(path string, inode, start, bias uint64) symbols.Module {
		return symbols.Module{Path: "/lib/" + path, Inode: inode, Start: start, End: start + 0x2000, Bias: bias}
	}
	program, first, other := mod("program", 1, 0x1000, 0), mod("first", 2, 0x5000, 0x5000), mod("other", 3, 0x5000, 0x5000)
	const says = "other was loaded where first had been: "
	for _, c := range []struct {
		what string
		then [][]symbols.Module
		want string
	}{
		{"it stays", [][]symbols.Module{{program, first}}, ""},
		{"it is unloaded", [][]symbols.Module{{program}}, ""},
		{"it comes back", [][]symbols.Module{{program}, {program, first}}, ""},
		{"another one at once", [][]symbols.Module{{program, other}}, says},
		{"another one later", [][]symbols.Module{{program}, {program, other}, {program}, {program, first}}, says},
		{"another one beside its constructs", [][]symbols.Module{{program, mod("other", 3, 0x6200, 0)}}, ""},
		{"itself, elsewhere", [][]symbols.Module{{program, mod("first", 2, 0x5000, 0x4000)}}, "first was loaded where first had been: "},
	} {
		r := NewResolver(symbols.NewProcess(os.Getpid()), Wanted{})
		r.SetModules([]symbols.Module{program, first})
		r.Seen(attribution.Key{Site: 0x6100})
		r.Bind(0x6300) // of a sample
		for _, mods := range c.then {
			r = r.Copy()
			r.SetModules(mods)
		}
		got := r.Covered()
		if len(got) > 1 || c.want == "" && len(got) > 0 || c.want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
