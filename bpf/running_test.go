package bpf

import (
	"errors"
	"testing"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// noted holds the kernel's types that notesIn looks at. A test changes one of them.
type noted struct {
	thread, notes, session, uprobe *btf.Struct
	cast                           *btf.Func
}

// likeLinux618 returns the types that running.h reads, as Linux 6.18 has them.
func likeLinux618() *noted {
	long := &btf.Int{Name: "long unsigned int", Size: 8}
	pointer := &btf.Pointer{Target: (*btf.Void)(nil)}
	common := &btf.Struct{Name: "bpf_run_ctx"}
	uprobe := &btf.Struct{Name: "bpf_uprobe", Size: 24, Members: []btf.Member{
		{Name: "link", Type: pointer}, {Name: "offset", Type: long, Offset: 64}, {Name: "cookie", Type: long, Offset: 128}}}
	session := &btf.Struct{Name: "bpf_session_run_ctx", Size: 16, Members: []btf.Member{
		{Name: "run_ctx", Type: common}, {Name: "is_return", Type: &btf.Int{Name: "_Bool", Size: 1, Encoding: btf.Bool}},
		{Name: "data", Type: pointer, Offset: 64}}}
	return &noted{
		thread: &btf.Struct{Name: "task_struct", Size: 4096, Members: []btf.Member{
			{Name: "stack", Type: pointer}, {Name: "bpf_ctx", Type: &btf.Pointer{Target: common}, Offset: 8000}}},
		notes: &btf.Struct{Name: "bpf_uprobe_multi_run_ctx", Size: 32, Members: []btf.Member{
			{Name: "session_ctx", Type: session}, {Name: "entry_ip", Type: long, Offset: 128},
			{Name: "uprobe", Type: &btf.Pointer{Target: uprobe}, Offset: 192}}},
		session: session, uprobe: uprobe,
		cast: &btf.Func{Name: "bpf_rdonly_cast", Type: &btf.FuncProto{Return: pointer, Params: []btf.FuncParam{{Name: "obj", Type: pointer}}}},
	}
}

// moveBack makes room before a struct's fields.
func moveBack(s *btf.Struct) {
	s.Size += 8
	for i := range s.Members {
		s.Members[i].Offset += 64
	}
}

// A kernel's notes are read only if they begin with the struct to which threads point.
func TestNotesIn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(k *noted)
		want   bool
	}{
		"Linux 6.18":              {func(*noted) {}, true},
		"other fields have moved": {func(k *noted) { moveBack(k.thread); moveBack(k.uprobe); k.notes.Members[2].Offset = 128 }, true},
		"before the session":      {func(k *noted) { moveBack(k.notes) }, false},
		"in the session":          {func(k *noted) { moveBack(k.session) }, false},
		"the session is behind": {func(k *noted) {
			m := k.notes.Members
			m[0].Offset, m[1].Offset, m[2].Offset = 128, 0, 64
		}, false},
		"Linux 6.12": {func(k *noted) {
			k.notes.Members[0] = btf.Member{Name: "run_ctx", Type: k.session.Members[0].Type}
		}, false},
		"the session points to what threads point to": {func(k *noted) {
			k.session.Members[0].Type = &btf.Pointer{Target: k.session.Members[0].Type}
		}, false},
		"threads point to something else": {func(k *noted) { k.thread.Members[1].Type = &btf.Pointer{Target: k.uprobe} }, false},
		"threads do not point there":      {func(k *noted) { k.thread.Members[1].Name = "bpf" }, false},
		"nothing tells the return":        {func(k *noted) { k.session.Members[1].Name = "data" }, false},
		"no probe":                        {func(k *noted) { k.notes.Members[2].Name = "link" }, false},
		"the probe itself":                {func(k *noted) { k.notes.Members[2].Type = k.uprobe }, false},
		"no cookie":                       {func(k *noted) { k.uprobe.Members[2].Name = "ref_ctr" }, false},
		"no notes":                        {func(k *noted) { k.notes.Name = "bpf_run" }, false},
		"Linux 6.1":                       {func(k *noted) { k.cast.Name = "bpf_cast_to_kern_ctx" }, false},
	} {
		k := likeLinux618()
		c.change(k)
		b, err := btf.NewBuilder([]btf.Type{k.thread, k.notes, k.cast}, nil)
		if err != nil {
			t.Fatal(err)
		}
		types, err := b.Spec()
		if err != nil {
			t.Fatal(err)
		}
		if got := notesIn(types); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// calls returns how many calls a loaded program contains.
func calls(t *testing.T, p *Probes, program string) (n int) {
	t.Helper()
	info, err := p.coll.Programs[program].Info()
	if err != nil {
		t.Fatal(err)
	}
	code, err := info.Instructions()
	if err != nil {
		t.Skipf("the kernel does not show its programs: %v", err)
	}
	for _, ins := range code {
		if ins.OpCode.JumpOp() == asm.Call {
			n++
		}
	}
	return n
}

// If a kernel's notes are not known, probes do without sessions, and call a function of the kernel
// for the cookie. The notes of this kernel are known.
func TestNotesNotKnown(t *testing.T) {
	known := notesKnown
	defer func() { notesKnown = known }()
	load := func() *Probes {
		t.Helper()
		p, err := LoadProbes(Session)
		if errors.Is(err, unix.EPERM) {
			t.Skip("loading BPF programs is not permitted")
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	fast := load()
	if fast.Mode() != Session {
		t.Skip("this kernel has no sessions")
	}
	if !known() {
		t.Error("what this kernel notes is not known")
	}
	notesKnown = func() bool { return false }
	slow := load()
	if slow.Mode() != Multi {
		t.Errorf("attached by %v", slow.Mode())
	}
	if f, s := calls(t, fast, probeProgOnEntryMulti), calls(t, slow, probeProgOnEntryMulti); f != s-1 {
		t.Errorf("%d calls, and %d where the kernel's notes are not known", f, s)
	}
	deliver(t, slow)
	deliverMPI(t, Multi, false)
}
