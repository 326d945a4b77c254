package kmpc

import (
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/probestest"
)

var nextChunk = []string{"__kmpc_dispatch_next_4", "__kmpc_dispatch_next_4u", "__kmpc_dispatch_next_8", "__kmpc_dispatch_next_8u"}

// In the installed libomp the ends of dynamic loops are found at cheap instructions of the function
// itself. No chunk hits a probe.
func TestLoopOverInstalled(t *testing.T) {
	tried := false
	for _, path := range probestest.Libomps(t) {
		o := probestest.Open(t, path)
		if o.Arch() != "amd64" {
			continue
		}
		tried = true
		for _, name := range nextChunk {
			for _, entry := range o.Symbol(name) {
				found, err := locateLoopOver(o, entry)
				if err != nil || len(found) < 2 {
					t.Errorf("%s, %s: %d places, %v; want one in teams and one or two in serialised regions", path, name, len(found), err)
				}
				_, hi, _ := o.FuncRange(entry)
				for _, i := range found {
					if points.CostOf(i) > points.Emulated || i.Addr <= entry || i.Addr >= hi {
						t.Errorf("%s, %s: probe at %s", path, name, i)
					}
				}
			}
		}
		p, err := Runtime.Plan(o, func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		for _, pl := range p.Placements {
			if slices.Contains(nextChunk, pl.Symbol) {
				t.Errorf("%s: each call of %s is probed", path, pl.Symbol)
			}
			if strings.Contains(pl.Symbol, "no chunk left") && (pl.Return || pl.Row.Construct != event.Loop || pl.Row.Entry != event.Close) {
				t.Errorf("%s: %+v", path, pl)
			}
		}
	}
	if !tried {
		t.Skip("libomp for x86-64 is not installed")
	}
}

// dispatchNext is a function of the same form as libomp's. TEAM stands for its part for teams,
// SERIAL for its part for serialised regions.
const dispatchNext = `
int serial, left, finished, debugged;
__attribute__((noipa)) int take(int *lb, int *ub) { *lb = *ub = 1; return left-- > 0; }
__attribute__((noipa)) void say(int n) { debugged = n; }
__attribute__((noipa)) int __kmpc_dispatch_next_4(void *loc, int gtid, int *last, int *lb, int *ub, int *st)
{
	int status;
	if (serial) {
		SERIAL
	} else {
		TEAM
	}
	if (debugged > 100) say(status);
	return status;
}
int main(void) { int a, b, c, d; return __kmpc_dispatch_next_4(0, 0, &a, &b, &c, &d); }`

func TestLoopOver(t *testing.T) {
	const serial = "if (!left) { *lb = 0; *ub = 0; if (st) *st = 0; status = 0; say(1); } else { left = 0; *lb = gtid; *ub = 5; status = 1; }"
	const count = "int n = __sync_fetch_and_add(&finished, 1); if (debugged > 10) say(n); if (n == 7) finished = 0;"
	for _, c := range []struct{ name, team, serial, refused string }{
		{"libomp's form", "status = take(lb, ub); if (status == 0) { " + count + " }", serial, ""},
		{"no atomic instruction", "status = take(lb, ub);", serial, "0 atomic"},
		{"two", "status = take(lb, ub); if (status == 0) { " + count + " __sync_fetch_and_add(&left, 2); }", serial, "2 atomic"},
		{"counted for each chunk", "status = take(lb, ub); " + count, serial, "does not depend"},
		{"counted where there is a chunk", "status = take(lb, ub); if (status != 0) { " + count + " }", serial, "does not depend"},
		{"decided by something else", "status = take(lb, ub); if (debugged == 0) { " + count + " }", serial, "does not depend"},
		{"bounds are not cleared", "status = take(lb, ub); if (status == 0) { " + count + " }", "status = 0; *ub = gtid;", "clears its upper bound at 0"},
		{"bounds are cleared beforehand", "*ub = 0; say(2); status = take(lb, ub); if (status == 0) { " + count + " }", serial, "may follow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := strings.NewReplacer("TEAM", c.team, "SERIAL", c.serial).Replace(dispatchNext)
			o := probestest.Open(t, probestest.Compile(t, "amd64", source, "-O1"))
			found, err := locateLoopOver(o, o.Symbol("__kmpc_dispatch_next_4")[0])
			switch {
			case c.refused == "" && (err != nil || len(found) != 2):
				t.Errorf("%v, %v; want two places", found, err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("%v, %v; want a refusal: %s", found, err, c.refused)
			}
		})
	}
}
