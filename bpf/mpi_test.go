package bpf

import (
	"errors"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

func TestLoadMPI(t *testing.T) {
	for mode := Session; mode <= Perf; mode++ {
		p, err := LoadProbes(mode)
		if errors.Is(err, unix.EPERM) {
			t.Skip("loading BPF programs is not permitted")
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.LoadMPI()
		if err != nil {
			var v *ebpf.VerifierError
			if errors.As(err, &v) {
				t.Fatalf("%s", strings.Join(v.Log[max(0, len(v.Log)-60):], "\n"))
			}
			t.Fatal(err)
		}
		for n, pr := range m.coll.Programs {
			i, _ := pr.Info()
			v, _ := i.VerifiedInstructions()
			t.Log(mode, n, v)
		}
		m.Close()
		p.Close()
	}
}
