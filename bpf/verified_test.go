package bpf

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/cilium/ebpf"
)

// processed matches the number of instructions that the verifier tells at its end.
var processed = regexp.MustCompile(`processed (\d+) insns`)

// Verifying the programs takes most of the time in which a measurement begins. The number of
// instructions that the verifier goes through does not depend on how busy the machine is. A loop
// that the verifier follows turn by turn takes tens of thousands.
func TestLittleToVerify(t *testing.T) {
	const most = 16_000
	types, err := kernelTypes.Kernel()
	if err != nil {
		t.Fatal(err)
	}
	follow, err := loadFollow()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Variables[followVarFindsFiles].Set(findsFiles()); err != nil {
		t.Fatal(err)
	}
	probe, err := loadProbe()
	if err != nil {
		t.Fatal(err)
	}
	if err := new(Counters).configure(probe); err != nil {
		t.Fatal(err)
	}
	if err := letSleep(probe, probeVarMaySleep, probeProgOnSession, probeProgOnEntryMulti, probeProgOnReturnMulti,
		probeProgOnEntryPerf, probeProgOnReturnPerf); err != nil {
		t.Fatal(err)
	}
	if err := tell(probe.Variables[probeVarNotesKnown], notesKnown()); err != nil {
		t.Fatal(err)
	}
	if err := shapeRings(probe, 1); err != nil {
		t.Fatal(err)
	}
	options := ebpf.CollectionOptions{Cache: kernelTypes,
		Programs: ebpf.ProgramOptions{KernelTypes: types, LogLevel: ebpf.LogLevelStats}}
	for _, spec := range []*ebpf.CollectionSpec{follow, probe} {
		for name, p := range spec.Programs {
			one := spec.Copy()
			p.KernelVersion = anyKernel
			one.Programs = map[string]*ebpf.ProgramSpec{name: p}
			c, err := ebpf.NewCollectionWithOptions(one, options)
			if err != nil {
				if p.AttachTo == "" && p.Type == ebpf.Kprobe {
					continue // an attach mode that this kernel does not know
				}
				t.Errorf("%s: %v", name, err)
				continue
			}
			log := c.Programs[name].VerifierLog
			c.Close()
			m := processed.FindStringSubmatch(log)
			if m == nil {
				t.Errorf("%s: the verifier does not say what it did: %q", name, log)
				continue
			}
			if n, _ := strconv.Atoi(m[1]); n > most {
				t.Errorf("%s: the verifier goes through %d instructions, more than %d", name, n, most)
			}
		}
	}
}
