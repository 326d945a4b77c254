package symbols

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"

	"ompp-attach/files"
)

// Module is one ELF file in one process's address space.
type Module struct {
	Path     string // as the process sees it
	HostPath string // where this process can open the mapped file, even if it was replaced
	Dev      uint64 // device number, as unix.Mkdev composes it
	Inode    uint64
	Start    uint64 // lowest address mapped
	End      uint64 // first address after the module, zero-filled memory included
	Bias     uint64 // address - vaddr
	Deleted  bool   // the file at Path is gone or is another one

	object *Object
}

// Object returns the module's ELF file. Modules of the same file share one object, in all
// processes. The object stays readable as long as this process runs, whatever happens to the file.
func (m *Module) Object() *Object { return m.object }

// Contains reports whether addr belongs to the module.
func (m *Module) Contains(addr uint64) bool { return m.Start <= addr && addr < m.End }

// VAddr converts an address in the process to the object's vaddr.
func (m *Module) VAddr(addr uint64) uint64 { return addr - m.Bias }

// Addr converts the object's vaddr to an address in the process.
func (m *Module) Addr(vaddr uint64) uint64 { return vaddr + m.Bias }

// Find returns the module that contains addr. modules must be sorted by
// address, as Modules returns them.
func Find(modules []Module, addr uint64) (*Module, bool) {
	i, found := slices.BinarySearchFunc(modules, addr, func(m Module, a uint64) int { return cmp.Compare(m.Start, a) })
	if !found {
		i--
	}
	if i >= 0 && modules[i].Contains(addr) {
		return &modules[i], true
	}
	return nil, false
}

// Overlaps tells whether one of modules has an address in common with m. modules must be sorted by
// address, as Modules returns them.
func Overlaps(modules []Module, m *Module) bool {
	i, found := slices.BinarySearchFunc(modules, m.Start, func(m Module, a uint64) int { return cmp.Compare(m.Start, a) })
	return found || i > 0 && modules[i-1].End > m.Start || i < len(modules) && modules[i].Start < m.End
}

// place computes where an object lies in memory from its executable mapping.
func place(o *Object, m mapping) (mod Module, ok bool) {
	page := uint64(os.Getpagesize())
	var lo, hi uint64 = 1<<64 - 1, 0
	for _, p := range o.file.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		lo = min(lo, p.Vaddr&^(page-1))
		hi = max(hi, (p.Vaddr+p.Memsz+page-1)&^(page-1))
		// A mapping starts at the page of a segment. If mprotect has split the mapping, it starts
		// further in.
		if !ok && p.Flags&elf.PF_X != 0 && m.offset >= p.Off&^(page-1) && m.offset < p.Off+p.Filesz {
			mod.Bias, ok = m.start-(m.offset-p.Off+p.Vaddr), true
		}
	}
	mod.Dev, mod.Inode, mod.object = m.dev, m.inode, o
	mod.Start, mod.End = lo+mod.Bias, hi+mod.Bias
	return mod, ok
}

// hostPath returns a path at which the mapped file can be opened from here. The path leads through
// the process's root. If another file has replaced the mapped one, the path leads through the
// mapping itself, which needs CAP_CHECKPOINT_RESTORE (Linux 5.9). seen is the file's name in the
// process.
func hostPath(proc string, m mapping) (host, seen string, deleted bool) {
	same := func(path string) bool {
		st, err := files.Stat(path)
		if err != nil {
			return false
		}
		// The device is not compared: overlay and btrfs file systems show different devices in stat
		// and in maps.
		sys, ok := st.Sys().(*syscall.Stat_t)
		return ok && sys.Ino == m.inode
	}
	host = proc + "/root" + m.path
	if !m.deleted && same(host) {
		return host, m.path, false
	}
	if m.deleted && same(host+deletedMark) { // the file's own name ends with the text of the mark
		return host + deletedMark, m.path + deletedMark, false
	}
	mapped := fmt.Sprintf("%s/map_files/%x-%x", proc, m.start, m.end)
	if _, err := files.Stat(mapped); err == nil {
		return mapped, m.path, m.deleted
	}
	return host, m.path, m.deleted
}

// objectKey identifies the contents of a file.
type objectKey struct {
	dev, inode  uint64
	size, mtime int64
}

// objects holds the objects of all processes: ranks of an MPI program on one node map the same
// files.
var objects struct {
	mu sync.Mutex
	m  map[objectKey]*Object
}

func cachedObject(path string) (*Object, error) {
	st, err := files.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open object: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return OpenObject(path)
	}
	key := objectKey{sys.Dev, sys.Ino, sys.Size, st.ModTime().UnixNano()}
	objects.mu.Lock()
	o := objects.m[key]
	objects.mu.Unlock()
	if o != nil {
		return o, nil
	}
	if o, err = OpenObject(path); err != nil {
		return nil, err
	}
	objects.mu.Lock()
	defer objects.mu.Unlock()
	if first := objects.m[key]; first != nil { // another thread was faster
		o.Close()
		return first, nil
	}
	if objects.m == nil {
		objects.m = map[objectKey]*Object{}
	}
	objects.m[key] = o
	return o, nil
}
