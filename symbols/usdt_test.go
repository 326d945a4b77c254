package symbols

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const markedProgram = `
#include "ompp.h"
#include <stdlib.h>
static inline void twice(void) { ompp_begin("in line"); ompp_end("in line"); }
int main(void)
{
	ompp_off();
	twice();
	twice();
	ompp_on();
	return 0;
}
`

func markedBinary(t testing.TB, flags ...string) string {
	t.Helper()
	src := filepath.Join(t.TempDir(), "marked.c")
	if err := os.WriteFile(src, []byte(markedProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	return compile(t, "gcc", append(flags, "-I../include", src)...)
}

func TestMarkers(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O0", "-no-pie"}, {"-O2", "-s", "-static"}, {"-O2", "-ffunction-sections", "-Wl,--gc-sections"}} {
		o := open(t, markedBinary(t, flags...))
		var got []string
		for _, m := range o.Markers() {
			got = append(got, m.Provider+" "+m.Name)
			if b := o.Read(m.VAddr, 1); !bytes.Equal(b, []byte{0x90}) && o.Arch() == "amd64" {
				t.Errorf("%v: %s %s: at %#x is no nop but % x", flags, m.Provider, m.Name, m.VAddr, b)
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, []string{"ompp off", "ompp on", "ompp_begin in line", "ompp_end in line"}) {
			t.Errorf("%v: %q", flags, got)
		}
	}
}

func FuzzMarkers(f *testing.F) {
	good, err := os.ReadFile(markedBinary(f, "-O1"))
	if err != nil {
		f.Fatal(err)
	}
	o, err := NewObject(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		f.Fatal(err)
	}
	s := o.file.Section(".note.stapsdt")
	note := good[s.Offset : s.Offset+s.FileSize]
	f.Add(note)
	f.Add([]byte{8, 0, 0, 0, 255, 255, 255, 255, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		file := slices.Clone(good)
		copy(file[s.Offset:s.Offset+s.FileSize], b)
		o, err := NewObject(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range o.Markers() {
			if _, ok := o.codeRange(m.VAddr); !ok {
				t.Errorf("%+v is outside the code", m)
			}
		}
	})
}
