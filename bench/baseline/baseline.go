package baseline

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	perf "github.com/elastic/go-perf"

	"ompp-attach/bpf"
)

// Probe is a program that does nothing, or nothing but read perf events.
type Probe struct {
	prog     *ebpf.Program
	sessions [skipKinds]*ebpf.Program // these only answer whether the return is wanted
	coll     *ebpf.Collection         // of a program that reads events
}

// Load loads the program. It needs uprobe_multi (Linux 6.6).
func Load() (*Probe, error) {
	spec, err := load()
	if err != nil {
		return nil, err
	}
	prog, err := ebpf.NewProgram(spec.Programs[baselineProgOnNothing])
	if err != nil {
		return nil, fmt.Errorf("load the empty probe: %w", err)
	}
	e := &Probe{prog: prog}
	for kind := range skipKinds {
		name := [skipKinds]string{baselineProgOnNothingMore, baselineProgOnNothingIfZf, baselineProgOnNothingIfNotSf}[kind]
		// Before Linux 6.13 there are no sessions, and nobody places one.
		e.sessions[kind], _ = ebpf.NewProgram(spec.Programs[name])
	}
	return e, nil
}

func load() (*ebpf.CollectionSpec, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raise the locked-memory limit: %w", err)
	}
	return loadBaseline()
}

// LoadReading loads a program that only reads the given number of perf events, at most 8. Its cost
// is what the kernel itself takes for the reads.
func LoadReading(events int) (*Probe, error) {
	spec, err := load()
	if err != nil {
		return nil, err
	}
	if err := spec.Variables[baselineVarNumEvents].Set(uint32(events)); err != nil {
		return nil, err
	}
	for name := range spec.Programs {
		if name != baselineProgOnReads {
			delete(spec.Programs, name)
		}
	}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, fmt.Errorf("load the probe that reads: %w", err)
	}
	return &Probe{prog: coll.Programs[baselineProgOnReads], coll: coll}, nil
}

// SetEvent gives the i-th counter of a program that reads its perf event on a CPU. file is the
// event's file descriptor.
func (e *Probe) SetEvent(i, cpu, file int) error {
	if err := e.coll.Maps["events_"+strconv.Itoa(i)].Put(uint32(cpu), uint32(file)); err != nil {
		return fmt.Errorf("store the event of counter %d on CPU %d: %w", i, cpu, err)
	}
	return nil
}

// AttachLike places the program where another tool has placed its probes, for one process. Returns
// are probed only where the other tool probes them, and under the same condition. Closing the
// result removes all of these probes.
func (e *Probe) AttachLike(placed []Placed, pid int) (io.Closer, error) {
	var links Links
	for _, s := range sorted(placed) {
		l, err := e.attach(s, pid)
		if err != nil {
			links.Close()
			return nil, fmt.Errorf("attach empty probes to %s: %w", s.like.Path, err)
		}
		links = append(links, l)
	}
	return links, nil
}

// AttachEntries places the program at the same instructions, without any return.
func (e *Probe) AttachEntries(placed []Placed, pid int) (io.Closer, error) {
	var entries []Placed
	for _, p := range placed {
		if p.AtEntry() {
			entries = append(entries, Placed{Path: p.Path, Offset: p.Offset})
		}
	}
	return e.AttachLike(entries, pid)
}

// alike are points that one link can hold.
type alike struct {
	like   Placed // its offset is not used
	points []bpf.Point
}

func sorted(placed []Placed) (out []alike) {
	for _, p := range placed {
		like := p
		like.Offset = 0
		i := slices.IndexFunc(out, func(s alike) bool { return s.like == like })
		if i < 0 {
			i = len(out)
			out = append(out, alike{like: like})
		}
		out[i].points = append(out[i].points, bpf.Point{Offset: p.Offset, Return: p.how != placedEntry})
	}
	// Return links first, as package bpf attaches them.
	slices.SortStableFunc(out, func(a, b alike) int { return int(b.like.how) - int(a.like.how) })
	return out
}

func (e *Probe) attach(s alike, pid int) (io.Closer, error) {
	if s.like.how == placedSession {
		if e.sessions[s.like.skip] == nil {
			return nil, errors.New("no session program can be loaded")
		}
		return bpf.AttachSession(e.sessions[s.like.skip], s.like.Path, pid, s.points)
	}
	ex, err := link.OpenExecutable(s.like.Path)
	if err != nil {
		return nil, err
	}
	opts := &link.UprobeMultiOptions{PID: uint32(pid)}
	for _, p := range s.points {
		opts.Addresses = append(opts.Addresses, p.Offset)
	}
	if s.like.how == placedReturn {
		return ex.UretprobeMulti(nil, e.prog, opts)
	}
	return ex.UprobeMulti(nil, e.prog, opts)
}

// Programs returns the kernel's numbers of the loaded programs.
func (e *Probe) Programs() (ids []ebpf.ProgramID, err error) {
	for _, p := range append(e.sessions[:], e.prog) {
		if p == nil {
			continue
		}
		info, err := p.Info()
		if err != nil {
			return nil, fmt.Errorf("ask for the empty probe's number: %w", err)
		}
		id, _ := info.ID()
		ids = append(ids, id)
	}
	return ids, nil
}

// Close frees the programs.
func (e *Probe) Close() error {
	for _, p := range e.sessions {
		if p != nil {
			p.Close()
		}
	}
	if e.coll != nil {
		e.coll.Close()
		return nil
	}
	return e.prog.Close()
}

// Links are what was attached.
type Links []io.Closer

// Close removes all of them.
func (l Links) Close() error {
	var errs []error
	for _, c := range l {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// OpenSampler opens a sampling event on every processor, with a program that does nothing. Its cost
// is what the kernel itself takes for an interrupt.
func OpenSampler(attr *perf.Attr) (io.Closer, error) {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.PerfEvent, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return nil, fmt.Errorf("load the empty sampling program: %w", err)
	}
	defer prog.Close() // the events hold it
	var events Links
	for cpu := range runtime.NumCPU() {
		e, err := perf.Open(attr, perf.AllThreads, cpu, nil)
		if err == nil {
			events = append(events, e)
			err = errors.Join(e.SetBPF(uint32(prog.FD())), e.MapRingNumPages(1), e.Enable())
		}
		if err != nil {
			events.Close()
			return nil, fmt.Errorf("open the sampling event on processor %d: %w", cpu, err)
		}
	}
	return events, nil
}
