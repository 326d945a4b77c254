package bpf

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	perf "github.com/elastic/go-perf"
)

// EmptyProbe is a program that does nothing. Its cost is what the kernel itself takes for a hit;
// `make bench` compares our probes with that.
type EmptyProbe struct {
	prog     *ebpf.Program
	sessions [skipKinds]*ebpf.Program // these only answer whether the return is wanted
	coll     *ebpf.Collection         // of a program that reads events
}

// LoadEmptyProbe loads the program. It needs uprobe_multi (Linux 6.6).
func LoadEmptyProbe() (*EmptyProbe, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raise the locked-memory limit: %w", err)
	}
	spec, err := loadProbe()
	if err != nil {
		return nil, err
	}
	prog, err := ebpf.NewProgram(spec.Programs[probeProgOnNothing])
	if err != nil {
		return nil, fmt.Errorf("load the empty probe: %w", err)
	}
	e := &EmptyProbe{prog: prog}
	for kind := range skipKinds {
		name := [skipKinds]string{probeProgOnNothingMore, probeProgOnNothingIfZf, probeProgOnNothingIfNotSf}[kind]
		// Before Linux 6.13 there are no sessions, and nobody places one.
		e.sessions[kind], _ = ebpf.NewProgram(spec.Programs[name])
	}
	return e, nil
}

// LoadReadingProbe loads a program that only reads the given number of perf events. Its cost is
// what the kernel itself takes for the reads. set stores the events' files (see Probes.SetEvent).
func LoadReadingProbe(events int, set func(*Probes) error) (*EmptyProbe, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raise the locked-memory limit: %w", err)
	}
	spec, err := loadProbe()
	if err != nil {
		return nil, err
	}
	c := Counters{Sources: slices.Repeat([]CounterSource{CountEvent}, events)}
	if err := c.configure(spec); err != nil {
		return nil, err
	}
	for name := range spec.Programs {
		if name != probeProgOnReads {
			delete(spec.Programs, name)
		}
	}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, fmt.Errorf("load the probe that reads: %w", err)
	}
	if err := set(&Probes{coll: coll}); err != nil {
		coll.Close()
		return nil, err
	}
	return &EmptyProbe{prog: coll.Programs[probeProgOnReads], coll: coll}, nil
}

// Attach places the program at file offsets of the ELF file at path, for one process. If returns is
// set, it also probes the returns of the points that have Return set. Closing the result removes
// all of these probes.
func (e *EmptyProbe) Attach(path string, pid int, points []Point, returns bool) (io.Closer, error) {
	var placed []Placed
	for _, p := range points {
		placed = append(placed, Placed{Path: path, Offset: p.Offset})
		if returns && p.Return {
			placed = append(placed, Placed{Path: path, Offset: p.Offset, how: placedReturn})
		}
	}
	return e.AttachLike(placed, pid)
}

// AttachLike places the program where another tool has placed its probes, for one process. Returns
// are probed only where the other tool probes them, and under the same condition. Closing the
// result removes all of these probes.
func (e *EmptyProbe) AttachLike(placed []Placed, pid int) (io.Closer, error) {
	var links closers
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
func (e *EmptyProbe) AttachEntries(placed []Placed, pid int) (io.Closer, error) {
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
	points []Point
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
		out[i].points = append(out[i].points, Point{Offset: p.Offset, Return: p.how != placedEntry})
	}
	// Return links first, as in attachMulti.
	slices.SortStableFunc(out, func(a, b alike) int { return int(b.like.how) - int(a.like.how) })
	return out
}

func (e *EmptyProbe) attach(s alike, pid int) (io.Closer, error) {
	if s.like.how == placedSession {
		if e.sessions[s.like.skip] == nil {
			return nil, errors.New("no session program can be loaded")
		}
		return attachSession(e.sessions[s.like.skip], s.like.Path, pid, s.points)
	}
	ex, err := link.OpenExecutable(s.like.Path)
	if err != nil {
		return nil, err
	}
	opts := multiOptions(s.points, pid, false)
	if s.like.how == placedReturn {
		return ex.UretprobeMulti(nil, e.prog, opts)
	}
	return ex.UprobeMulti(nil, e.prog, opts)
}

// Programs returns the kernel's numbers of the loaded programs.
func (e *EmptyProbe) Programs() (ids []ebpf.ProgramID, err error) {
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
func (e *EmptyProbe) Close() error {
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

// OpenEmptySampler opens a sampling event on every processor, with a program that does nothing. Its
// cost is what the kernel itself takes for an interrupt.
func OpenEmptySampler(attr *perf.Attr) (io.Closer, error) {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.PerfEvent, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return nil, fmt.Errorf("load the empty sampling program: %w", err)
	}
	defer prog.Close() // the events hold it
	s := &Sampler{}
	if err := s.open(attr, prog); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}
