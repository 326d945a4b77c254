package kmpc

import (
	"path/filepath"
	"slices"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/probestest"
)

// Every call of __kmp_invoke_microtask has one probe, and the function's entry has none: otherwise
// a begin would be counted twice, or not at all. Where teams of several threads call it, a register
// holds the team. Another register than that which argv was loaded from would be no team.
func TestPlaceBeginsInstalled(t *testing.T) {
	libs, err := filepath.Glob("/usr/lib/llvm-*/lib/libomp.so.5")
	if err != nil {
		t.Fatal(err)
	}
	if len(libs) == 0 {
		t.Skip("libomp is not installed")
	}
	for _, path := range libs {
		t.Run(path, func(t *testing.T) {
			o := probestest.Open(t, path)
			plan, err := Runtime.Plan(o, func(string) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			var probed, called []uint64
			known := 0
			for i := range plan.Placements {
				pl := &plan.Placements[i]
				if pl.Row != table().Find(microtask) {
					continue
				}
				probed = append(probed, pl.VAddr)
				if pl.Kernel.KmpThreads == 0 {
					known++
					checkTeam(t, plan, pl)
				}
			}
			calls, err := callgraph.CallsOf(o, microtask)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range calls {
				called = append(called, c.Addr)
			}
			slices.Sort(called)
			if !slices.Equal(probed, called) {
				t.Errorf("probes at %#x, calls at %#x", probed, called)
			}
			if known != 1 {
				t.Errorf("the team is known at %d calls", known)
			}
		})
	}
}

// checkTeam looks for the instruction before the call that loads argv (the fifth argument, r8), and
// compares its base register.
func checkTeam(t *testing.T, plan *probes.Plan, pl *probes.Placement) {
	t.Helper()
	if plan.Object.Arch() != "amd64" {
		return
	}
	lo, _, _ := plan.Object.FuncRange(pl.VAddr)
	body, err := disasm.Func(plan.Object, lo)
	if err != nil {
		t.Fatal(err)
	}
	const load, r8 = 0x8b, 0 // mov reg, [base + 32 bits], with REX.W and REX.R
	for i := slices.IndexFunc(body, func(i disasm.Inst) bool { return i.Addr == pl.VAddr }) - 1; i >= 0; i-- {
		b := body[i].Bytes
		if len(b) < 7 || b[0]&0xfc != 0x4c || b[1] != load || b[2]>>3&7 != r8 || b[2]>>6 != 2 {
			continue
		}
		base := int(b[2]&7) | int(b[0]&1)<<3
		if pl.Kernel.KmpTeam != uint32(bpf.Reg(base)) {
			t.Errorf("the team is read from register %d; argv comes from register %d", pl.Kernel.KmpTeam-uint32(bpf.Reg(0)), base)
		}
		return
	}
	t.Errorf("no load of argv before the call at %#x", pl.VAddr)
}
