package event

import "testing"

// Each kind of levels has a group, an element of sets and a name of its own. An Fn tells the kind
// and the function.
func TestLevelKinds(t *testing.T) {
	var all Constructs
	for g := NoGroup + 1; g < NumGroups; g++ {
		of := g.Constructs()
		if of == 0 || all&of != 0 {
			t.Errorf("%s: %b is empty or not its own", g, of)
		}
		all |= of
		text, err := of.MarshalText()
		var read Constructs
		if err != nil || read.UnmarshalText(text) != nil || read != of {
			t.Errorf("%s: %b is written as %s and read as %b", g, of, text, read)
		}
		kind := max(0, int(g)-int(GroupUser))
		if of.LevelKind() != kind {
			t.Errorf("%s is of kind %d, want %d", g, of.LevelKind(), kind)
		}
		for c := range Construct(64) {
			if of.Has(c) && GroupOf(c) != g {
				t.Errorf("%s has %d, which is of %s", g, c, GroupOf(c))
			}
		}
	}
	for kind := range LevelKinds + 1 {
		for _, number := range []int{0, 1, 1<<31 - 1} {
			fn := LevelFn(kind, number)
			got, ok := LevelFunction(fn)
			of := SetOf(Element(UserRegion, fn))
			if !ok || got != number || of.LevelKind() != kind || kind == 0 && of != SetOf(UserRegion) {
				t.Errorf("kind %d, number %d: %d, %v, elements %b", kind, number, got, ok, of)
			}
			if Element(Lock, fn) != Lock {
				t.Error("the address of a lock is taken for a level")
			}
		}
	}
	if _, ok := LevelFunction(0x7fffffffe000); ok || Element(UserRegion, 0x7fffffffe000) != UserRegion {
		t.Error("an address is taken for a level's function")
	}
}

// FuzzConstructs: what is no set is refused, and what is one is written as it was read.
func FuzzConstructs(f *testing.F) {
	for _, s := range []string{"", "LOCK", "LOCK,LEVELS 1", "LEVELS 16", "LEVELS 17", "LEVELS 0", "LEVELS 01", "LEVELS", "LOCK,,LOCK"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, again Constructs
		if s.UnmarshalText([]byte(text)) != nil {
			return
		}
		b, _ := s.MarshalText()
		if err := again.UnmarshalText(b); err != nil || again != s {
			t.Errorf("%q is read as %b, written as %q and read as %b (%v)", text, s, b, again, err)
		}
	})
}
