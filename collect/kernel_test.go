package collect

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
)

// kernelSide loads the kernel side of probes, and places none.
func kernelSide(t *testing.T) *bpf.Probes {
	t.Helper()
	k, err := bpf.LoadProbes(bpf.Session)
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}
