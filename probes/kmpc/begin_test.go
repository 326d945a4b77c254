package kmpc

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

// Every call of __kmp_invoke_microtask has one probe, and the function's entry has none: otherwise
// a begin would be counted twice, or not at all. Where teams of several threads call it, a register
// holds the team. Another register than that which argv was loaded from would be no team.
func TestPlaceBeginsInstalled(t *testing.T) {
	libs := probestest.Libomps(t)
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
				if tells := pl.Kernel.Flags&bpf.RowTellsLeftOut != 0; tells != (pl.Kernel.KmpThreads != 0) {
					t.Errorf("%s at %#x tells of hits without records: %t", pl.Symbol, pl.VAddr, tells)
				}
				if pl.Kernel.KmpThreads == 0 {
					known++
					checkTeam(t, plan, pl)
				}
			}
			calls, skipped, err := callgraph.CallsOf(o, microtask)
			if err != nil || len(skipped) > 0 {
				t.Fatal(err, skipped)
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

// TestSkippedCalls: disassembly may not confirm a call of __kmp_invoke_microtask, or a jump there.
// Then the function's entry is probed, so that no begin is missed. The plan names the ends.
func TestSkippedCalls(t *testing.T) {
	libs := probestest.Libomps(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("the bytes are of x86-64")
	}
	o := probestest.Open(t, libs[0])
	calls, _, err := callgraph.CallsOf(o, microtask)
	if err != nil {
		t.Fatal(err)
	}
	target := calls[0].Target
	gap, found := betweenFunctions(o)
	at, inFile := o.FileOffset(gap)
	if !found || !inFile {
		t.Fatalf("padding found: %t, in the file: %t", found, inFile)
	}
	for name, code := range map[string]byte{"call": 0xe8, "jump": 0xe9} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(libs[0])
			if err != nil {
				t.Fatal(err)
			}
			b[at] = code
			binary.LittleEndian.PutUint32(b[at+1:], uint32(target-(gap+5)))
			path := filepath.Join(t.TempDir(), "libomp.so.5")
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			plan, err := Runtime.Plan(probestest.Open(t, path), func(string) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			var probed []uint64
			for i := range plan.Placements {
				if plan.Placements[i].Row == table().Find(microtask) {
					probed = append(probed, plan.Placements[i].VAddr)
				}
			}
			if entry := plan.Object.Symbol(microtask); len(probed) != 1 || !slices.Contains(entry, probed[0]) {
				t.Errorf("probes at %#x, the entry is %#x", probed, entry)
			}
			if !slices.ContainsFunc(plan.Missing, func(s string) bool { return strings.Contains(s, fmt.Sprintf("%#x", gap)) }) {
				t.Errorf("the plan does not name the call at %#x: %q", gap, plan.Missing)
			}
		})
	}
}

// betweenFunctions finds five bytes that belong to no function.
func betweenFunctions(o *symbols.Object) (at uint64, ok bool) {
	const length = 5
	for _, r := range o.TextRanges() {
		for at := r.Lo; at+length <= r.Hi; at++ {
			_, _, first := o.FuncRange(at)
			_, _, last := o.FuncRange(at + length - 1)
			if !first && !last {
				return at, true
			}
		}
	}
	return 0, false
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
