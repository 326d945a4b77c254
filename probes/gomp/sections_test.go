package gomp

import (
	"strings"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/probestest"
)

const sectionsSource = `
__attribute__((noipa)) int take(long *s, long *e) { *s = *e = 1; return 0; }
int GOMP_sections_next(void) { BODY }
int main(void) { return GOMP_sections_next(); }`

// The jump that decides whether there is another section is found in a function of libgomp's form,
// and in no other.
func TestSectionNext(t *testing.T) {
	for _, c := range []struct{ name, body, refused string }{
		{"libgomp's form", `long s, e; if (__builtin_expect((_Bool)take(&s, &e), 1)) { __asm__ volatile(""); return s; } return 0;`, ""},
		{"two calls", `long s, e; take(&s, &e); if ((_Bool)take(&s, &e)) { __asm__ volatile(""); return s; } return 0;`, "2 calls"},
		{"two jumps", `long s, e; if ((_Bool)take(&s, &e)) { __asm__ volatile(""); if (s > 1) __asm__ volatile(""); return s; } return 0;`, "2 conditional jumps"},
		{"no test", `long s, e; take(&s, &e); return s;`, "0 conditional jumps"},
		{"something else decides", `long s, e; take(&s, &e); if (s > 3) { __asm__ volatile(""); return s; } return 0;`, "tests its call's answer by no jump"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := probestest.Open(t, probestest.Compile(t, "amd64", probestest.Body(sectionsSource, c.body), "-O1", "-fno-if-conversion", "-fno-if-conversion2"))
			at, err := locateSectionNext(o, o.Symbol("GOMP_sections_next")[0])
			switch {
			case c.refused == "" && (err != nil || at.Control != disasm.Jcc):
				t.Errorf("%s, %v", at, err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("%v; want a refusal: %s", err, c.refused)
			}
		})
	}
}

// The zero flag tells the answer. The kernel side reports the flag as it reports a free lock.
func TestSectionNextDecoded(t *testing.T) {
	d := probes.NewTabled(event.Gomp, []*probes.Row{&sectionNext})
	for flags, want := range map[uint16]int64{bpf.RecNoReturn: 1, bpf.RecNoReturn | bpf.RecFree: 0} {
		var ev event.Event
		if !d.Event(&bpf.Record{Flags: flags}, &ev) || ev.Edge != event.Result || ev.Value != want || ev.Flags&event.FreeAtOnce != 0 {
			t.Errorf("flags %#x: %+v, want the result %d", flags, ev, want)
		}
	}
}
