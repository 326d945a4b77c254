package symbols

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Process lists the files that a process maps. Later calls open only files that were not mapped
// before: a process may have loaded hundreds. If the process executes another program, it needs a
// new Process.
type Process struct {
	pid int

	mu    sync.Mutex
	files map[mappedAs]*mappedFile
}

// mappedAs identifies a file in a process's memory. While the file is mapped, no other file gets
// its inode. If another file gets its name, the kernel marks the name.
type mappedAs struct {
	dev, inode uint64
	path       string
	deleted    bool
}

// NewProcess makes the list of a process; it is empty at first.
func NewProcess(pid int) *Process { return &Process{pid: pid, files: map[mappedAs]*mappedFile{}} }

// Modules lists the ELF files that process pid has mapped for execution, sorted by address. It
// leaves out a file that cannot be read (a 32-bit program, a file that vanished). Then the error
// says why. The other modules are returned with the error.
func Modules(pid int) ([]Module, error) { return NewProcess(pid).Modules() }

// Modules lists the process's modules, like the function Modules.
func (p *Process) Modules() ([]Module, error) {
	proc := "/proc/" + strconv.Itoa(p.pid)
	f, err := os.Open(proc + "/maps")
	if err != nil {
		return nil, fmt.Errorf("modules of process %d: %w", p.pid, err)
	}
	defer f.Close()
	maps, err := parseMaps(f)
	if err != nil {
		return nil, fmt.Errorf("modules of process %d: %w", p.pid, err)
	}
	files := p.open(proc, maps)
	var modules []Module
	var unread []error
	for n, m := range maps {
		f := files[n]
		if errors.Is(f.err, ErrNotELF) {
			continue // a file of code that the process itself has generated
		}
		if f.err != nil {
			unread = append(unread, f.err)
			continue
		}
		mod, ok := place(f.object, m)
		if !ok {
			continue
		}
		mod.Path, mod.HostPath, mod.Deleted = f.seen, f.host, f.deleted
		// One segment may be mapped in pieces.
		if n := len(modules); n > 0 && modules[n-1].object == f.object && modules[n-1].Bias == mod.Bias {
			continue
		}
		modules = append(modules, mod)
	}
	slices.SortFunc(modules, func(a, b Module) int { return compare(a.Start, b.Start) })
	if len(unread) > 0 {
		return modules, fmt.Errorf("modules of process %d: %w", p.pid, errors.Join(unread...))
	}
	return modules, nil
}

// Executable opens the process's own file, without looking at the others. It is mostly the largest
// one.
func (p *Process) Executable() (*Object, error) {
	proc := "/proc/" + strconv.Itoa(p.pid)
	path, err := os.Readlink(proc + "/exe")
	if err != nil {
		return nil, fmt.Errorf("executable of process %d: %w", p.pid, err)
	}
	return cachedObject(proc + "/root" + path)
}

// mappedFile is the file of a mapping.
type mappedFile struct {
	host, seen string
	deleted    bool
	object     *Object
	err        error
	lasting    bool // it was read, by a path that does not lead through the mapping
}

// open returns the files of mappings. It opens the new ones, several at a time, and reads what they
// import.
func (p *Process) open(proc string, maps []mapping) []*mappedFile {
	p.mu.Lock()
	defer p.mu.Unlock()
	files := make([]*mappedFile, len(maps))
	var fresh []int
	known := map[mappedAs]*mappedFile{}
	for n, m := range maps {
		as := mappedAs{m.dev, m.inode, m.path, m.deleted}
		f := known[as]
		if f == nil {
			if f = p.files[as]; f == nil || !f.lasting {
				f = &mappedFile{}
				fresh = append(fresh, n)
			}
			known[as] = f
		}
		files[n] = f
	}
	p.files = known // a file that is no longer mapped may be another file if it appears again
	var done sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(fresh))
	for first := range workers {
		done.Go(func() {
			for k := first; k < len(fresh); k += workers {
				f := files[fresh[k]]
				f.host, f.seen, f.deleted = hostPath(proc, maps[fresh[k]])
				if f.object, f.err = cachedObject(f.host); f.err == nil {
					f.object.imports()
					f.lasting = strings.HasPrefix(f.host, proc+"/root/")
				}
			}
		})
	}
	done.Wait()
	return files
}
