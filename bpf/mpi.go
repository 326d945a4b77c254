package bpf

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

// The tables of the kernel side of MPI probes; the fields' comments are in shared.h.
type (
	MPIRow      = mpiMpiRow
	MPILibrary  = mpiMpiLibrary
	MPIWrappers = mpiMpiWrappers
)

// What an MPI row does at a hit; the comments are in shared.h.
const (
	MPINoReturn   = uint32(mpiMpiRowFlagMPI_ROW_NO_RETURN)
	MPIWide       = uint32(mpiMpiRowFlagMPI_ROW_WIDE)
	MPISizes      = uint32(mpiMpiRowFlagMPI_ROW_SIZES)
	MPINeighbors  = uint32(mpiMpiRowFlagMPI_ROW_NEIGHBORS)
	MPISendAtRoot = uint32(mpiMpiRowFlagMPI_ROW_SEND_AT_ROOT)
	MPIRecvAtRoot = uint32(mpiMpiRowFlagMPI_ROW_RECV_AT_ROOT)
	MPISite       = uint32(mpiMpiRowFlagMPI_ROW_SITE)
	MPIOnStack    = uint32(mpiMpiRowFlagMPI_ROW_ON_STACK)
	MPIBegins     = uint32(mpiMpiRowFlagMPI_ROW_BEGINS)
	MPIKeep       = uint32(mpiMpiRowFlagMPI_ROW_KEEP)
	MPIStart      = uint32(mpiMpiRowFlagMPI_ROW_START)
	MPIStartAll   = uint32(mpiMpiRowFlagMPI_ROW_START_ALL)
	MPIForget     = uint32(mpiMpiRowFlagMPI_ROW_FORGET)
	MPISendCounts = uint32(mpiMpiRowFlagMPI_ROW_SEND_COUNTS)
	MPISendTypes  = uint32(mpiMpiRowFlagMPI_ROW_SEND_TYPES)
	MPIRecvCounts = uint32(mpiMpiRowFlagMPI_ROW_RECV_COUNTS)
	MPIRecvTypes  = uint32(mpiMpiRowFlagMPI_ROW_RECV_TYPES)
	MPISendOwn    = uint32(mpiMpiRowFlagMPI_ROW_SEND_OWN)
	MPIRecvOwn    = uint32(mpiMpiRowFlagMPI_ROW_RECV_OWN)
	MPIGraph      = uint32(mpiMpiRowFlagMPI_ROW_GRAPH)
	MPIGrid       = uint32(mpiMpiRowFlagMPI_ROW_GRID)
	MPIComm       = uint32(mpiMpiRowFlagMPI_ROW_COMM)
	MPIWindow     = uint32(mpiMpiRowFlagMPI_ROW_WINDOW)
	MPIBirth      = uint32(mpiMpiRowFlagMPI_ROW_BIRTH)
	MPILocal      = uint32(mpiMpiRowFlagMPI_ROW_LOCAL)
	MPIMatched    = uint32(mpiMpiRowFlagMPI_ROW_MATCHED)
	MPIBegun      = uint32(mpiMpiRowFlagMPI_ROW_BEGUN)
	MPIWaits      = uint32(mpiMpiRowFlagMPI_ROW_WAITS)
	MPISome       = uint32(mpiMpiRowFlagMPI_ROW_SOME)
	MPIGroup      = uint32(mpiMpiRowFlagMPI_ROW_GROUP)
	MPIMakesGroup = uint32(mpiMpiRowFlagMPI_ROW_MAKES_GROUP)
	MPIMessage    = uint32(mpiMpiRowFlagMPI_ROW_MESSAGE)
)

// The formulas of a library, as indices of MPILibrary.Formula; the comments are in shared.h.
const (
	MPITypeSize       = int(mpiMpiWhatMPI_TYPE_SIZE)
	MPICommSize       = int(mpiMpiWhatMPI_COMM_SIZE)
	MPICommRank       = int(mpiMpiWhatMPI_COMM_RANK)
	MPICommInter      = int(mpiMpiWhatMPI_COMM_INTER)
	MPICommRemoteSize = int(mpiMpiWhatMPI_COMM_REMOTE_SIZE)
	MPIWorld          = int(mpiMpiWhatMPI_WORLD)
)

// MPINoArg stands for an argument that an operation does not have.
const MPINoArg = 0xff

// mpiByMode names the MPI programs of each mode. A session has one program for entry and return.
// Programs that may sleep need Linux 6.0 (uprobe.s).
var mpiByMode = map[Mode]struct{ entry, sleepingEntry, ret string }{
	Session: {mpiProgMpiSession, mpiProgMpiSessionSleeps, ""},
	Multi:   {mpiProgMpiEntryMulti, mpiProgMpiEntryMultiSleeps, mpiProgMpiReturnMulti},
	Perf:    {mpiProgMpiEntryPerf, mpiProgMpiEntryPerfSleeps, mpiProgMpiReturnPerf},
}

// MPI is the loaded kernel side of the MPI probes. Its records go to the rings of the Probes for
// which it was loaded.
type MPI struct {
	mode      Mode
	coll      *ebpf.Collection
	sleeps    bool
	exit      link.Link
	open      *link.Iter
	rows      uint32
	libraries uint32
	asking    sync.Mutex
}

// LoadMPI loads the MPI probes' programs for the mode in which p attaches. If the kernel accepts no
// programs that may sleep, arguments that are arrays are not read.
func (p *Probes) LoadMPI() (*MPI, error) {
	m, err := p.loadMPI(true)
	if err != nil {
		var second error
		if m, second = p.loadMPI(false); second != nil {
			return nil, fmt.Errorf("load the MPI probe programs: %w", err)
		}
	}
	return m, nil
}

func (p *Probes) loadMPI(sleeps bool) (*MPI, error) {
	spec, err := loadMpi()
	if err != nil {
		return nil, err
	}
	names := mpiByMode[p.mode]
	for name := range spec.Programs {
		switch {
		case name == names.entry, name == names.ret, name == mpiProgMpiExit, name == mpiProgMpiOpenCalls:
		case name == names.sleepingEntry && sleeps:
		default:
			delete(spec.Programs, name)
		}
	}
	if sleeps && p.mode.canSleep() {
		var all []string
		for _, name := range []string{names.entry, names.sleepingEntry, names.ret} {
			if name != "" {
				all = append(all, name)
			}
		}
		if err := letSleep(spec, mpiVarMaySleep, all...); err != nil {
			return nil, err
		}
	}
	if err := spec.Variables[mpiVarNumCounters].Set(uint32(len(p.counters.Sources))); err != nil {
		return nil, err
	}
	if err := tell(spec.Variables[mpiVarSiteAtExit], SitesLater()); err != nil {
		return nil, err
	}
	if err := tell(spec.Variables[mpiVarNotesKnown], notesKnown()); err != nil {
		return nil, err
	}
	shared := map[string]*ebpf.Map{}
	p.shareFolds(shared)
	for _, name := range []string{probeMapThreads, probeMapSilent, probeMapSharing, ".data.shared"} {
		shared[name] = p.coll.Maps[name]
	}
	if err := p.shareRings(spec, shared); err != nil {
		return nil, err
	}
	m := &MPI{mode: p.mode, sleeps: sleeps}
	if m.coll, err = newCollection(spec, shared); err != nil {
		return nil, err
	}
	if m.exit, err = link.AttachTracing(link.TracingOptions{Program: m.coll.Programs[mpiProgMpiExit]}); err != nil {
		m.Close()
		return nil, fmt.Errorf("attach to the ends of threads: %w", err)
	}
	if m.open, err = link.AttachIter(link.IterOptions{Program: m.coll.Programs[mpiProgMpiOpenCalls]}); err != nil {
		m.Close()
		return nil, fmt.Errorf("attach to the list of threads: %w", err)
	}
	return m, nil
}

// tell sets a program's variable to 1 if so is true.
func tell(v *ebpf.VariableSpec, so bool) error {
	if so {
		return v.Set(uint32(1))
	}
	return nil
}

// SitesLater reports whether the site of a call can be taken at the call's return, if one probe
// serves entry and return (Session). The site of a call that never returns is looked up when the
// thread ends. For that, sched_process_exit must come before the kernel frees the list of pending
// returns (Linux 6.16).
var SitesLater = sync.OnceValue(func() bool { return tracepointArgs("sched_process_exit") > 1 })

// tracepointArgs returns how many arguments the running kernel passes to programs on a tracepoint,
// or 0 if that is not known.
func tracepointArgs(name string) int {
	kernel, err := kernelTypes.Kernel()
	if err != nil {
		return 0
	}
	var t *btf.Typedef
	if err := kernel.TypeByName("btf_trace_"+name, &t); err != nil {
		return 0
	}
	p, ok := t.Type.(*btf.Pointer)
	if !ok {
		return 0
	}
	f, ok := p.Target.(*btf.FuncProto)
	if !ok {
		return 0
	}
	return len(f.Params) - 1 // without the tracepoint's own, which comes first
}

// Close frees the kernel side of the MPI probes. Links that Attach returned stay until they are
// closed.
func (m *MPI) Close() {
	if m.open != nil {
		m.open.Close()
	}
	if m.exit != nil {
		m.exit.Close()
	}
	m.coll.Close()
}

// AddLibrary stores a library in the kernel side and returns its index. One goroutine at a time may
// call AddLibrary, AddRow and Dropped.
func (m *MPI) AddLibrary(l *MPILibrary) (uint32, error) {
	i := m.libraries
	if err := m.coll.Maps[mpiMapMpiLibraries].Put(i, l); err != nil {
		return 0, fmt.Errorf("store MPI library %d: %w", i, err)
	}
	m.libraries++
	return i, nil
}

// AddRow stores a row in the kernel side and returns its index.
func (m *MPI) AddRow(r *MPIRow) (uint32, error) {
	i := m.rows
	if err := m.coll.Maps[mpiMapMpiRows].Put(i, r); err != nil {
		return 0, fmt.Errorf("store MPI row %d: %w", i, err)
	}
	m.rows++
	return i, nil
}

// Dropped returns, by row, how many records were lost because a ring was full.
func (m *MPI) Dropped() (map[uint32]uint64, error) {
	return dropped(m.coll.Maps[mpiMapMpiDropped], m.rows)
}

// SetWrappers names the address ranges of a process's language bindings.
func (m *MPI) SetWrappers(pid int, w *MPIWrappers) error {
	if err := m.coll.Maps[mpiMapMpiWrapped].Put(uint32(pid), w); err != nil {
		return fmt.Errorf("name the language bindings of process %d: %w", pid, err)
	}
	m.asking.Lock()
	defer m.asking.Unlock()
	v := m.coll.Variables[mpiVarWrappedChanges]
	var n uint32
	if err := v.Get(&n); err != nil {
		return fmt.Errorf("name the language bindings of process %d: %w", pid, err)
	}
	return v.Set(n + 1)
}

// SetDegrees says how many neighbours send to a process in a communicator (in), and to how many
// neighbours the process sends (out).
func (m *MPI) SetDegrees(pid int, comm uint64, in, out int32) error {
	key := mpiMpiKey{Handle: comm, Pid: uint32(pid)}
	if err := m.coll.Maps[mpiMapMpiNeighbors].Put(&key, &mpiMpiDegrees{In: in, Out: out}); err != nil {
		return fmt.Errorf("tell of a communicator's neighbours: %w", err)
	}
	return nil
}

// MPIPoint is one place to probe in an MPI library.
type MPIPoint struct {
	Point
	Arrays bool // the operation's arguments include arrays to read
}

// Attach places probes at file offsets of the ELF file at path, for one process. Closing the result
// removes them all.
func (m *MPI) Attach(path string, pid int, points []MPIPoint) (io.Closer, error) {
	names := mpiByMode[m.mode]
	var others, sleeping []Point
	for _, p := range points {
		if p.Arrays && m.sleeps {
			sleeping = append(sleeping, p.Point)
		} else {
			others = append(others, p.Point)
		}
	}
	var links closers
	for _, set := range []struct {
		entry  string
		points []Point
	}{{names.entry, others}, {names.sleepingEntry, sleeping}} {
		if len(set.points) == 0 {
			continue
		}
		var l io.Closer
		var err error
		entry, ret := m.coll.Programs[set.entry], m.coll.Programs[names.ret]
		switch m.mode {
		case Session:
			l, err = AttachSession(entry, path, pid, set.points)
		case Multi:
			l, err = attachMulti(entry, ret, path, pid, set.points)
		default:
			l, err = attachPerf(entry, ret, path, pid, set.points)
		}
		if err != nil {
			links.Close()
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
}

// CutOff makes the kernel side report the calls that are open in a process, as unfinished and with
// the present time. The process's probes must be gone.
func (m *MPI) CutOff(pid int) error {
	m.asking.Lock()
	defer m.asking.Unlock()
	if err := m.coll.Variables[mpiVarOpenCallsOf].Set(uint32(pid)); err != nil {
		return fmt.Errorf("ask for open MPI calls: %w", err)
	}
	r, err := m.open.Open()
	if err != nil {
		return fmt.Errorf("ask for open MPI calls: %w", err)
	}
	_, err = io.Copy(io.Discard, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("ask for open MPI calls: %w", err)
	}
	return nil
}
