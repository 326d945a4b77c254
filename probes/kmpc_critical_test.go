package probes

import (
	"os"
	"path/filepath"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/event"
)

// In the installed libomp a critical construct has one probe at its beginning.
func TestCriticalForwarded(t *testing.T) {
	libs, err := filepath.Glob("/usr/lib/llvm-*/lib/libomp.so.5")
	if err != nil {
		t.Fatal(err)
	}
	tried := false
	for _, path := range libs {
		if _, err := os.Stat(path); err != nil {
			continue // a link whose package is gone
		}
		tried = true
		o := openObject(t, path)
		p, err := NewPlan(o, func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		begins := 0
		for _, pl := range p.Placements {
			if pl.point.construct == event.Critical && pl.point.entry == event.Enter {
				begins++
				if from := o.Symbol(kmpcCritical)[0]; pl.Symbol != kmpcCriticalWithHint || pl.VAddr+pl.row.BodyLo != from || pl.row.BodySize == 0 {
					t.Errorf("%s: %+v; want calls by %s to count", path, pl, kmpcCritical)
				}
			}
		}
		if begins != 1 {
			t.Errorf("%s: %d probes where a critical construct begins", path, begins)
		}
	}
	if !tried {
		t.Skip("libomp is not installed")
	}
}

func TestForwards(t *testing.T) {
	const source = `
int tool; void *volatile site;
__attribute__((noipa)) void other(void) {}
__attribute__((noipa)) void __kmpc_critical_with_hint(void *loc, int gtid, void *lock, unsigned hint) { site = lock; }
__attribute__((noipa)) void __kmpc_critical(void *loc, int gtid, void *lock) { BODY }
int main(void) { __kmpc_critical(&tool, 1, &site); return 0; }`
	const to = "__kmpc_critical_with_hint"
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"a jump, or a call and what comes behind it", "if (tool) { site = __builtin_return_address(0); " + to + "(loc, gtid, lock, 0); site = 0; } else " + to + "(loc, gtid, lock, 0);", true},
		{"a jump", to + "(loc, gtid, lock, 0);", true},
		{"not always", "if (!tool) " + to + "(loc, gtid, lock, 0);", false},
		{"another lock", to + "(loc, gtid, &tool, 0);", false},
		{"another function", "if (tool) other(); else " + to + "(loc, gtid, lock, 0);", false},
		{"twice", "if (tool) { " + to + "(loc, gtid, lock, 0); site = 0; } else { " + to + "(loc, gtid, lock, 1); site = lock; }", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := openObject(t, compileFor(t, "amd64", replaceBody(source, c.body), "-O2"))
			if f, ok := forwards(o, kmpcCritical, kmpcCriticalWithHint, 3); ok != c.want || ok && (f.entry != o.Symbol(kmpcCritical)[0] || f.size == 0) {
				t.Errorf("%+v, %t; want %t", f, ok, c.want)
			}
		})
	}
}

// A call that was forwarded is not the library's own, and its place is not known
// by its return address.
func TestForwardedDecoded(t *testing.T) {
	pt := kmpcTable().find(kmpcCriticalWithHint)
	d := &Decoder{rows: []decoded{{point: pt, runtime: event.Kmpc}}}
	for flags, site := range map[uint16]uint64{0: 77, bpf.RecInside: 0} {
		var ev event.Event
		if !d.Event(&bpf.Record{Flags: flags, Site: 77, A: 5, B: 6}, &ev) || ev.Site != site || ev.Flags&event.Inside != 0 || ev.Loc != 5 || ev.Fn != 6 {
			t.Errorf("flags %#x: %+v, want the site %d", flags, ev, site)
		}
		if !d.Fold(&bpf.FoldRecord{Flags: flags, Site: 77, A: 5, B: 6}, &ev, &event.Fold{}) || ev.Site != site || ev.Flags&event.Inside != 0 || ev.Loc != 5 || ev.Fn != 6 {
			t.Errorf("folded, flags %#x: %+v, want the site %d", flags, ev, site)
		}
	}
}
