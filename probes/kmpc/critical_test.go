package kmpc

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/probes/probestest"
)

// In the installed libomp a critical construct has one probe at its beginning.
func TestCriticalForwarded(t *testing.T) {
	for _, path := range probestest.Libomps(t) {
		o := probestest.Open(t, path)
		p, err := Runtime.Plan(o, func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		begins := 0
		for _, pl := range p.Placements {
			if pl.Row.Construct == event.Critical && pl.Row.Entry == event.Enter {
				begins++
				if from := o.Symbol(critical)[0]; pl.Symbol != criticalWithHint || pl.VAddr+pl.Kernel.BodyLo != from || pl.Kernel.BodySize == 0 {
					t.Errorf("%s: %+v; want calls by %s to count", path, pl, critical)
				}
			}
		}
		if begins != 1 {
			t.Errorf("%s: %d probes where a critical construct begins", path, begins)
		}
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
			o := probestest.Open(t, probestest.Compile(t, "amd64", probestest.Body(source, c.body), "-O2"))
			if f, ok := forwards(o, critical, criticalWithHint, 3); ok != c.want || ok && (f.entry != o.Symbol(critical)[0] || f.size == 0) {
				t.Errorf("%+v, %t; want %t", f, ok, c.want)
			}
		})
	}
}
