package target

import (
	"sync"

	"ompp-attach/probes/inline"
	"ompp-attach/probes/openmp"
	"ompp-attach/symbols"
)

// ReadAhead begins to read a process's files before the kernel side is loaded. Loading takes about
// as long and leaves other cores idle. The results are kept with the files, where the measurement
// finds them.
func ReadAhead(pid int, inlining bool) {
	mapped := readAhead.add(pid)
	into := func(o *symbols.Object) {
		if MayBeRuntime(o) {
			go openmp.ReadAhead(o)
		}
		if inlining && UsesGomp(o) {
			go inline.Of(o)
		}
	}
	go func() { // the scan reports what cannot be read
		if o, err := mapped.list.Executable(); err == nil {
			into(o)
		}
	}()
	go func() {
		mods, _ := mapped.modules()
		// A runtime takes longest to read, so it comes first.
		for _, first := range []bool{true, false} {
			for i := range mods {
				if openmp.Named(mods[i].Path) == first {
					into(mods[i].Object())
				}
			}
		}
	}()
}

// Files returns the list of the files that a process maps which is not measured yet. The list is
// kept until PopFiles.
func Files(pid int) *symbols.Process { return readAhead.add(pid).list }

// PopFiles returns and forgets the list of the files of a process that begins to be measured.
func PopFiles(pid int) *symbols.Process { return readAhead.of(pid) }

// readAhead are the lists of files of processes that are not measured yet.
var readAhead ahead

type ahead struct {
	sync.Mutex
	mapped map[int]*mappedAhead
}

// mappedAhead are the files that a process mapped before it was measured.
type mappedAhead struct {
	list    *symbols.Process
	modules func() ([]symbols.Module, error) // listed once
}

func (a *ahead) add(pid int) *mappedAhead {
	a.Lock()
	defer a.Unlock()
	if a.mapped == nil {
		a.mapped = map[int]*mappedAhead{}
	}
	if a.mapped[pid] == nil {
		list := symbols.NewProcess(pid)
		a.mapped[pid] = &mappedAhead{list, sync.OnceValues(list.Modules)}
	}
	return a.mapped[pid]
}

// of returns and forgets the list of a process that begins to be measured.
func (a *ahead) of(pid int) *symbols.Process {
	a.Lock()
	defer a.Unlock()
	p := a.mapped[pid]
	delete(a.mapped, pid) // another process may get its PID
	if p == nil {
		return symbols.NewProcess(pid)
	}
	return p.list
}
