package bpf

import (
	"errors"
	"sync"

	"github.com/cilium/ebpf/btf"
)

// errNotesUnknown says why sessions cannot be used on a kernel: without the kernel's notes, their
// program cannot tell entry from return.
var errNotesUnknown = errors.New("this kernel does not note in the known way which probe it runs a program for (6.13)")

// notesKnown reports whether running.h can read the running kernel's notes on the probe for which a
// program runs. Programs for Multi can do without the notes: they call bpf_get_attach_cookie.
var notesKnown = sync.OnceValue(func() bool {
	kernel, err := kernelTypes.Kernel()
	return err == nil && notesIn(kernel)
})

// notesIn is notesKnown for a kernel of the given types. The notes must begin with a struct
// bpf_run_ctx, to which a thread points: if that struct lay elsewhere in the notes, running.h would
// read other memory. All other fields may lie anywhere: programs are relocated when they are
// loaded.
func notesIn(kernel *btf.Spec) bool {
	const begin = "bpf_run_ctx"
	var thread, notes *btf.Struct
	var cast *btf.Func // running.h calls it
	if kernel.TypeByName("task_struct", &thread) != nil || kernel.TypeByName("bpf_uprobe_multi_run_ctx", &notes) != nil ||
		kernel.TypeByName("bpf_rdonly_cast", &cast) != nil {
		return false
	}
	session, ok := first(notes, "session_ctx")
	if !ok {
		return false
	}
	common, ok := first(session, "run_ctx")
	if !ok || common.Name != begin {
		return false
	}
	pointed, ok := pointee(thread, "bpf_ctx")
	if !ok || pointed.Name != begin {
		return false
	}
	uprobe, ok := pointee(notes, "uprobe")
	return ok && field(uprobe, "cookie") != nil && field(session, "is_return") != nil
}

// field returns the type of a struct's field, or nil.
func field(s *btf.Struct, name string) btf.Type {
	for _, m := range s.Members {
		if m.Name == name {
			return m.Type
		}
	}
	return nil
}

// first returns the type of a struct's first field, if the field has that name and is a struct.
func first(s *btf.Struct, name string) (*btf.Struct, bool) {
	for _, m := range s.Members {
		if m.Name == name && m.Offset == 0 {
			return btf.As[*btf.Struct](m.Type)
		}
	}
	return nil, false
}

// pointee returns the struct to which the field of that name points.
func pointee(s *btf.Struct, name string) (*btf.Struct, bool) {
	p, ok := btf.As[*btf.Pointer](field(s, name))
	if !ok {
		return nil, false
	}
	return btf.As[*btf.Struct](p.Target)
}
