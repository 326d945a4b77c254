package kmpc

import (
	"slices"
	"testing"

	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/probestest"
)

// Where ends are told by thread, the test looks for a mark of LLVM's sources that the search does
// not use. Both the primary thread and workers come to __kmp_join_barrier. The probes in place of
// others are no more and no less.
func TestPlaceApartInstalled(t *testing.T) {
	for _, path := range probestest.Libomps(t) {
		t.Run(path, func(t *testing.T) {
			o := probestest.Open(t, path)
			if o.Arch() != "amd64" {
				t.Skip("the places are known on x86-64")
			}
			plan, err := Runtime.Plan(o, func(string) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			before := plan.Probed()
			plan.DeriveEnds()
			var joins, workers []uint64
			var ends int
			for i := range plan.Placements {
				pl := &plan.Placements[i]
				switch pl.Row {
				case &joinCall:
					joins = append(joins, pl.VAddr)
				case &workerEnd:
					workers = append(workers, pl.VAddr)
				case &join:
					t.Errorf("the join is probed twice: %#x", pl.VAddr)
				case &bodyEnd:
					ends++
					if name, _, _ := o.FuncAt(pl.VAddr); name != "__kmpc_fork_call_if" {
						t.Errorf("an end in %s", name)
					}
				}
			}
			if len(joins) == 0 && len(workers) == 0 && slices.Equal(before, plan.Probed()) {
				t.Skip("this build looks otherwise, and keeps its places")
			}
			if len(joins) != 1 || len(workers) != 1 || ends > 1 {
				t.Fatalf("joins at %#x, workers' ends at %#x, %d other ends", joins, workers, ends)
			}
			g := callgraph.New(o)
			joinFunc, _, _ := o.FuncRange(joins[0])
			checkWorker(t, g, workers[0], g.Reachable([]uint64{joinFunc}, 2))
		})
	}
}

// checkWorker checks what surrounds a place. A call by pointer stands before the place. Behind it
// the thread calls one of the given functions, as it comes to the final barrier.
func checkWorker(t *testing.T, g *callgraph.Graph, at uint64, barriers []uint64) {
	t.Helper()
	lo, _, _ := g.Object.FuncRange(at)
	body, err := disasm.Func(g.Code, lo)
	if err != nil {
		t.Fatal(err)
	}
	k := slices.IndexFunc(body, func(i disasm.Inst) bool { return i.Addr == at })
	if k < 0 || !body[k].Emulated || body[k].Refused {
		t.Fatalf("no cheap instruction at %#x", at)
	}
	before := k - 1
	for before >= 0 && !body[before].Transfers() {
		before--
	}
	if before < 0 || !body[before].CallsPointer() {
		t.Errorf("before %s comes no call by pointer", body[k])
	}
	if !slices.ContainsFunc(body[k:], func(i disasm.Inst) bool {
		return i.Control == disasm.Call && g.Resolve(i.Target) != 0 && slices.Contains(barriers, g.Resolve(i.Target))
	}) {
		t.Errorf("behind %s the thread comes to no function that the primary thread comes to", body[k])
	}
}

// What only resembles __kmpc_fork_call's two calls is refused.
func TestForkCallsRefused(t *testing.T) {
	const head = `#define F __attribute__((noipa, used))
		typedef void *p; extern int sink;
		F void fork_(p loc, int gtid, int context, int argc, p micro, p invoker, p ap) { sink++; }
		F void __kmpc_end_serialized_parallel(p loc, int gtid) { sink--; }
		F void join_(p loc, int gtid, int context, int exit) { if (sink) __kmpc_end_serialized_parallel(loc, gtid); sink--; }
		F void plain(p loc, int gtid, int context, int exit) { sink--; }
		F int invoker(int gtid) { return gtid; }
		F int gtid(void) { return sink; }
		int sink;
		F void __kmpc_fork_call(p loc, int argc, p micro, p ap) { int g = gtid(); `
	const tail = ` }
		int main(void) { __kmpc_fork_call(0, 1, 0, 0); return sink; }`
	const forks, joins = `fork_(loc, g, 1, argc, micro, invoker, ap); `, `join_(loc, g, 1, 0); `
	for name, c := range map[string]struct {
		body string
		ok   bool
	}{
		"as it is":              {forks + joins + `gtid();`, true},
		"no join":               {forks + `gtid();`, false},
		"join first":            {joins + forks + `gtid();`, false},
		"join at times":         {forks + `if (g) ` + joins + `gtid();`, false},
		"fork at times":         {`if (g) ` + forks + joins + `gtid();`, false},
		"ones end elsewhere":    {forks + `plain(loc, g, 1, 0); gtid();`, false},
		"again and again":       {`do { ` + forks + joins + `} while (gtid());`, false},
		"two joins":             {forks + joins + joins + `gtid();`, false},
		"of a league's team":    {forks + `join_(loc, g, 1, 1); gtid();`, false},
		"for GNU":               {`fork_(loc, g, 0, argc, micro, invoker, ap); join_(loc, g, 0, 0); gtid();`, false},
		"another body":          {`fork_(loc, g, 1, argc, ap, invoker, ap); ` + joins + `gtid();`, false},
		"an early return":       {forks + `if (g == 3) return; ` + joins + `gtid();`, false},
		"a jump elsewhere last": {forks + joins + `gtid(); if (g) { fork_(0, 0, 0, 0, 0, 0, 0); return; }`, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := probestest.Open(t, probestest.Compile(t, "amd64", head+c.body+tail, "-O1", "-fno-optimize-sibling-calls"))
			f, err := locateForkCalls(callgraph.New(o))
			if (err == nil) != c.ok {
				t.Fatalf("found %+v: %v", f, err)
			}
			if want := [3]uint64{o.Symbol("fork_")[0], o.Symbol("join_")[0], o.Symbol("invoker")[0]}; c.ok && want != [3]uint64{f.fork, f.join, f.invoker} {
				t.Errorf("found %#x, want %#x", f, want)
			}
		})
	}
}
