package preflight

import "ompp-attach/bpf"

// Trial is the outcome of loading the kernel side.
type Trial struct {
	Mode   bpf.Mode // how probes are attached; valid if Load is nil
	Load   error    // of bpf.LoadProbes
	Follow error    // of bpf.NewFollower; not tried if Load failed
}

// Works tells whether this process can measure on this machine.
func (t Trial) Works() bool { return t.Load == nil && t.Follow == nil }

// Try loads the kernel side as a measurement does, attaches a probe to this program, and removes
// both again.
func Try() (t Trial) {
	k, err := bpf.LoadProbes(bpf.Session)
	if err != nil {
		t.Load = err
		return t
	}
	defer k.Close()
	t.Mode = k.Mode()
	f, err := bpf.NewFollower(t.Mode)
	if err != nil {
		t.Follow = err
		return t
	}
	f.Close()
	return t
}
