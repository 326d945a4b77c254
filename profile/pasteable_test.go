package profile

import (
	"bytes"
	"os/exec"
	"testing"
)

func TestPasteable(t *testing.T) {
	for _, w := range []struct{ text, want string }{
		{"", ""},
		{"lös solver (2 threads)", "lös solver (2 threads)"},
		{"cannot write to src/l\xf6s/a.c: disk full", `cannot write to src/$'l\366s'/a.c: disk full`},
		{"[l\xf6s: 2 threads]", `[$'l\366s': 2 threads]`},
		{"(\"it's\xff\").", `("$'it\'s\377'").`},
		{"a\x1b[31m\\b.c", `$'a\033[31m\\b.c'`},
		{"\xff/", `$'\377'/`},
		{"\xff", `$'\377'`},
	} {
		if got := Pasteable(w.text); got != w.want {
			t.Errorf("%q: %s, want %s", w.text, got, w.want)
		}
	}
}

// A shell must read each name as the name that was meant.
func TestPastedNames(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to paste into")
	}
	for _, name := range []string{"plain", "l\xf6ser.c", "ü", "my solver", "it's", "a\nb", "\x1b[31m\xff7", `back\slash` + "\xfe", "$HOME", "a\u200bb", "\xff'8 \"x\" `y`", ""} {
		texts := []string{PasteableName(name)}
		if bytes.ContainsRune([]byte(Pasteable(name)), '$') && name != "$HOME" && !bytes.Contains([]byte(name), []byte(" ")) {
			texts = append(texts, Pasteable("x/" + name)[len("x/"):])
		}
		for _, text := range texts {
			out, err := exec.Command(bash, "-c", "printf %s "+text).Output()
			if err != nil || string(out) != name {
				t.Errorf("%q is shown as %s, which a shell reads as %q (%v)", name, text, out, err)
			}
		}
	}
}

func TestNamesThatAreNotUTF8AreRecorded(t *testing.T) {
	p := recordSample()
	p.Meta.Program, p.Meta.Args = "l\xf6s", []string{"./l\xf6s", "\xfe"}
	p.Regions[0].Location.File = "/src/\xe4.c"
	var b bytes.Buffer
	if err := Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if m := got.Meta; m.Program != `$'l\366s'` || m.Args[0] != `./$'l\366s'` || m.Args[1] != `$'\376'` {
		t.Errorf("recorded as %s, %s", m.Program, m.Args)
	}
	if f := got.Regions[0].Location.File; f != `/src/$'\344.c'` {
		t.Errorf("recorded as %s", f)
	}
	if p.Meta.Program != "l\xf6s" || p.Regions[0].Location.File != "/src/\xe4.c" {
		t.Error("recording changed the profile")
	}
}
