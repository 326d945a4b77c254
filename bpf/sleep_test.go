package bpf

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Programs of probes need little stack, or contain a tail call. Otherwise they have a stack of
// their own per CPU since Linux 6.13. After a preemption or a sleep, a program would then find the
// values of another thread on that stack, and pointers among them.
func TestProbesRunOnTheThreadsStack(t *testing.T) {
	for _, load := range []func() (*ebpf.CollectionSpec, error){loadProbe, loadMpi, loadFollow, loadSample, loadSched} {
		spec, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range spec.Programs {
			if p.Type != ebpf.Kprobe {
				continue
			}
			found, small := false, true
			for _, ins := range p.Instructions {
				found = found || ins.IsBuiltinCall() && ins.Constant == int64(asm.FnTailCall)
				small = small && (ins.Src != asm.RFP && ins.Dst != asm.RFP || ins.Offset > -64)
			}
			if !found && !small {
				t.Errorf("%s contains no tail call", p.Name)
			}
		}
	}
}
