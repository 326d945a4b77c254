package bpf

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// Row says what a probe at one point of one library does at a hit. The attach cookie of a probe is
// the index of its row, and a record carries that index.
type Row = probeRow

// What a row does at a hit; the comments are in shared.h.
const (
	RowEntry        = uint32(probeRowFlagROW_ENTRY)
	RowReturn       = uint32(probeRowFlagROW_RETURN)
	RowReturnIfZero = uint32(probeRowFlagROW_RETURN_IF_ZERO)
	RowOutsideOnly  = uint32(probeRowFlagROW_OUTSIDE_ONLY)
	RowTeamFromTLS  = uint32(probeRowFlagROW_TEAM_FROM_TLS)
	RowFreeIfZF     = uint32(probeRowFlagROW_FREE_IF_ZF)
	RowFreeIfNotSF  = uint32(probeRowFlagROW_FREE_IF_NOT_SF)
	RowOnlyIfZF     = uint32(probeRowFlagROW_ONLY_IF_ZF)
	RowOnlyIfNotZF  = uint32(probeRowFlagROW_ONLY_IF_NOT_ZF)
	RowTrip32       = uint32(probeRowFlagROW_TRIP_32)
	RowTrip64       = uint32(probeRowFlagROW_TRIP_64)
	RowSizeFromKmp  = uint32(probeRowFlagROW_SIZE_FROM_KMP)
	RowLevelFromTLS = uint32(probeRowFlagROW_LEVEL_FROM_TLS)
	RowNoSite       = uint32(probeRowFlagROW_NO_SITE)
	RowSiteHere     = uint32(probeRowFlagROW_SITE_HERE)
	RowBFromA       = uint32(probeRowFlagROW_B_FROM_A)
	RowSparse       = uint32(probeRowFlagROW_SPARSE)
	RowExact        = uint32(probeRowFlagROW_EXACT)
	RowOff          = uint32(probeRowFlagROW_OFF)
	RowOn           = uint32(probeRowFlagROW_ON)
	RowTellsLeftOut = uint32(probeRowFlagROW_TELLS_LEFT_OUT)
)

// Arg returns the number that names the n-th argument (0 to 6) as a source. The seventh can be read
// at a function's entry only.
func Arg(n int) uint8 { return uint8(probeSourceARG_0) + uint8(n) }

// Reg returns the number that names the n-th general register as a source, in the order in which
// the architecture encodes registers.
func Reg(n int) uint8 { return uint8(probeSourceREG_0) + uint8(n) }

// Mode is a way to attach probes. The best one comes first.
type Mode int

// The modes, with the Linux version that brought each.
const (
	Session Mode = iota // one probe for entry and return, which may skip the return: 6.13
	Multi               // many addresses in one link: 6.6
	Perf                // a perf event per address, with cookies: 5.15
)

// String returns the mode's name for the report and the command check.
func (m Mode) String() string {
	return [...]string{"uprobe.session", "uprobe.multi", "perf_event uprobes"}[m]
}

// Point is one place to probe.
type Point struct {
	Offset uint64 // offset in the file
	Row    uint32
	Return bool // probe the return as well
}

// Probes is the loaded kernel side of the runtime probes.
type Probes struct {
	mode                 Mode
	coll                 *ebpf.Collection
	numRings, ringPieces int // without the ring of the thread that calibrates, which follows
	counters             Counters
	folds                folds

	adding  sync.Mutex // guards nextRow
	nextRow uint32
}

// programs names the programs of each mode: at entry and at return. A session program serves both,
// but only points that need the return get it. The reason is a hit in another process: the PID
// filter excludes the hit, but the kernel then arms the return in that process. At a point inside a
// function, this would overwrite the word on top of that process's stack.
var programs = map[Mode][2]string{
	Session: {probeProgOnEntryMulti, probeProgOnSession},
	Multi:   {probeProgOnEntryMulti, probeProgOnReturnMulti},
	Perf:    {probeProgOnEntryPerf, probeProgOnReturnPerf},
}

// LoadProbes loads the programs in the best mode that the kernel offers, but none before from
// (tests ask for later modes). The error says why each mode failed.
func LoadProbes(from Mode) (*Probes, error) { return LoadCountingProbes(from, Counters{}) }

// LoadCountingProbes is LoadProbes with records that carry counters.
func LoadCountingProbes(from Mode, c Counters) (*Probes, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raise the locked-memory limit: %w", err)
	}
	var errs []error
	for mode := from; mode <= Perf; mode++ {
		sleeping := mode.canSleep() && !c.readEvents()
		p, err := loadProbes(mode, c, sleeping)
		if err != nil && sleeping {
			p, err = loadProbes(mode, c, false)
		}
		if err == nil {
			err = p.tryAttach()
		}
		if err == nil && mode == Multi {
			err = p.filtersByThread()
		}
		if err == nil {
			return p, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", mode, err))
		if p != nil {
			p.Close()
		}
	}
	return nil, fmt.Errorf("load the probe programs: %w", errors.Join(errs...))
}

func loadProbes(mode Mode, c Counters, sleeping bool) (*Probes, error) {
	if mode == Session && !notesKnown() {
		return nil, errNotesUnknown
	}
	spec, err := loadProbe()
	if err != nil {
		return nil, err
	}
	for name := range spec.Programs {
		if p := programs[mode]; name != p[0] && name != p[1] && name != probeProgOnSwitch && name != probeProgOnThread && name != probeProgHear && !foldPrograms[name] {
			delete(spec.Programs, name)
		}
	}
	if err := c.configure(spec); err != nil {
		return nil, err
	}
	if sleeping {
		names := programs[mode]
		if err := letSleep(spec, probeVarMaySleep, names[:]...); err != nil {
			return nil, err
		}
	}
	n := ringsFor(runtime.NumCPU(), int(spec.Maps[probeMapRings].MaxEntries)-1)
	if err := shapeRings(spec, n); err != nil {
		return nil, err
	}
	if err := tell(spec.Variables[probeVarSiteAtExit], SitesLater()); err != nil {
		return nil, err
	}
	if err := tell(spec.Variables[probeVarNotesKnown], notesKnown()); err != nil {
		return nil, err
	}
	p := &Probes{mode: mode, counters: c, numRings: n, ringPieces: int(ringBytes(n) / pieceBytes)}
	if p.coll, err = newCollection(spec, nil); err != nil {
		return nil, err
	}
	if err := p.startFolding(); err != nil {
		p.Close()
		return nil, err
	}
	if c.TakeTurns { // folding would not add up how long each event counted
		if err := p.HoldFolds(); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// tryAttach returns an error if this mode cannot attach here. It probes the entry point of our own
// executable, which does not run again. Loading alone proves nothing: before Linux 6.6 uprobe_multi
// programs load but do not attach.
func (p *Probes) tryAttach() error {
	const self = "/proc/self/exe"
	f, err := elf.Open(self)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, s := range f.Progs {
		if s.Type == elf.PT_LOAD && f.Entry >= s.Vaddr && f.Entry < s.Vaddr+s.Filesz {
			l, err := p.Attach(self, os.Getpid(), []Point{{Offset: f.Entry - s.Vaddr + s.Off, Return: true}})
			if err != nil {
				return err
			}
			go l.Close() // Close waits 20 ms and more (synchronize_srcu)
			return nil
		}
	}
	return fmt.Errorf("%s: entry point is in no segment", self)
}

// filtersByThread returns an error on kernels where the process filter of uprobe_multi means one
// thread (Linux 6.6 to 6.9, fixed by commit 46ba0e49b642). There, hits in the process's other
// threads would be missed. To tell the kernels apart, it asks for a negative process number: only
// fixed kernels refuse that.
func (p *Probes) filtersByThread() error {
	ex, err := link.OpenExecutable("/proc/self/exe")
	if err != nil {
		return err
	}
	l, err := ex.UprobeMulti(nil, p.coll.Programs[programs[Multi][0]],
		&link.UprobeMultiOptions{Addresses: []uint64{1}, PID: ^uint32(0)})
	if err == nil {
		l.Close()
	}
	if errors.Is(err, unix.EINVAL) {
		return nil
	}
	return errors.New("this kernel's process filter sees one thread only (fixed in 6.10)")
}

// Mode returns how probes are attached.
func (p *Probes) Mode() Mode { return p.mode }

// AddRow stores a row in the kernel side and returns its index.
func (p *Probes) AddRow(r Row) (uint32, error) {
	p.adding.Lock()
	defer p.adding.Unlock()
	i := p.nextRow
	if err := p.coll.Maps[probeMapRows].Put(i, r); err != nil {
		return 0, fmt.Errorf("store probe row %d: %w", i, err)
	}
	p.nextRow++
	if r.Flags&(RowOff|RowOn) != 0 {
		// Once a process can switch reports off or on, folding ends: other threads' sums would have
		// to be written before each switch.
		return i, p.HoldFolds()
	}
	return i, nil
}

// Dropped returns, by row, how many records were lost because a ring was full.
func (p *Probes) Dropped() (map[uint32]uint64, error) {
	p.adding.Lock()
	n := p.nextRow
	p.adding.Unlock()
	return dropped(p.coll.Maps[probeMapDropped], n)
}

// dropped reads the counts of the first n rows.
func dropped(counters *ebpf.Map, n uint32) (map[uint32]uint64, error) {
	out := map[uint32]uint64{}
	for i := range n {
		var n uint64
		if err := counters.Lookup(i, &n); err != nil {
			return nil, fmt.Errorf("read the drop counters: %w", err)
		}
		if n > 0 {
			out[i] = n
		}
	}
	return out, nil
}

// Attach places probes at file offsets of the ELF file at path, for one process. With pid 0 they
// measure all processes given to Share. Closing the result removes them all.
func (p *Probes) Attach(path string, pid int, points []Point) (io.Closer, error) {
	entry, ret := p.coll.Programs[programs[p.mode][0]], p.coll.Programs[programs[p.mode][1]]
	switch p.mode {
	case Session:
		return attachSessions(entry, ret, path, pid, points)
	case Multi:
		return attachMulti(entry, ret, path, pid, points)
	default:
		return attachPerf(entry, ret, path, pid, points)
	}
}

// Close frees the kernel side. It detaches no probes: closing their links does.
func (p *Probes) Close() {
	p.folds.close()
	p.coll.Close()
}

type closers []io.Closer

// Parts returns the links that a result of Attach consists of. Each can be closed by itself.
func Parts(link io.Closer) []io.Closer {
	if c, ok := link.(closers); ok {
		return c
	}
	return []io.Closer{link}
}

// Join makes one link of several. A nil among them stands for probes that were not placed, and is
// left out.
func Join(all ...io.Closer) io.Closer {
	return slices.DeleteFunc(closers(slices.Clone(all)), func(c io.Closer) bool { return c == nil })
}

// Close closes many links at a time. The end of a perf event waits for an RCU grace period of some
// 10 ms; links that are closed together share that wait.
func (c closers) Close() error {
	const atOnce = 64
	errs := make([]error, len(c))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, x := range c {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = x.Close()
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func attachMulti(entry, ret *ebpf.Program, path string, pid int, points []Point) (io.Closer, error) {
	ex, err := link.OpenExecutable(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	var links closers
	// Return links come first. A call may arm its return before the entry link exists: then the
	// return's record has no entry, and is dropped. In the other order a return would be lost.
	opts := multiOptions(points, pid, true)
	if len(opts.Addresses) > 0 {
		l, err := ex.UretprobeMulti(nil, ret, opts)
		if err != nil {
			return nil, fmt.Errorf("attach return probes to %s: %w", path, err)
		}
		links = append(links, l)
	}
	l, err := ex.UprobeMulti(nil, entry, multiOptions(points, pid, false))
	if err != nil {
		links.Close()
		return nil, fmt.Errorf("attach probes to %s: %w", path, err)
	}
	return append(links, l), nil
}

func multiOptions(points []Point, pid int, returns bool) *link.UprobeMultiOptions {
	o := &link.UprobeMultiOptions{PID: uint32(pid)}
	for _, p := range points {
		if p.Return || !returns {
			o.Addresses = append(o.Addresses, p.Offset)
			o.Cookies = append(o.Cookies, cookie(p, pid))
		}
	}
	return o
}

func attachPerf(entry, ret *ebpf.Program, path string, pid int, points []Point) (io.Closer, error) {
	ex, err := link.OpenExecutable(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	var links closers
	for _, p := range points {
		// Address is the offset in the file: no symbol is looked up.
		o := &link.UprobeOptions{Address: p.Offset, PID: pid, Cookie: cookie(p, pid)}
		if p.Return {
			l, err := ex.Uretprobe("", ret, o)
			if err != nil {
				links.Close()
				return nil, fmt.Errorf("attach a return probe to %s: %w", path, err)
			}
			links = append(links, l)
		}
		l, err := ex.Uprobe("", entry, o)
		if err != nil {
			links.Close()
			return nil, fmt.Errorf("attach a probe to %s: %w", path, err)
		}
		links = append(links, l)
	}
	return links, nil
}
