package collect

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
)

// driven loads a kernel side that works without any probes.
func driven(t *testing.T) *bpf.Probes {
	t.Helper()
	k, err := bpf.LoadDriven()
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Skipf("this kernel cannot drive probes: %v", err)
	}
	t.Cleanup(k.Close)
	return k
}
