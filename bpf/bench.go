package bpf

import (
	"fmt"
	"io"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	perf "github.com/elastic/go-perf"
)

// EmptyProbe is a program that does nothing: what the kernel itself charges
// for a hit, the measure that `make bench` holds our probes against.
type EmptyProbe struct {
	prog *ebpf.Program
	coll *ebpf.Collection // of a program that reads events
}

// LoadEmptyProbe loads it (needs uprobe_multi: 6.6).
func LoadEmptyProbe() (*EmptyProbe, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raise the locked-memory limit: %w", err)
	}
	spec, err := loadProbe()
	if err != nil {
		return nil, err
	}
	p := spec.Programs[probeProgOnNothing]
	prog, err := ebpf.NewProgram(p)
	if err != nil {
		return nil, fmt.Errorf("load the empty probe: %w", err)
	}
	return &EmptyProbe{prog: prog}, nil
}

// LoadReadingProbe loads a program that does nothing but read so many perf
// events: what the kernel itself charges for the reads. set stores the events'
// files (see Probes.SetEvent).
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
	return &EmptyProbe{coll.Programs[probeProgOnReads], coll}, nil
}

// Attach places it at file offsets of the ELF file at path, for one process;
// with returns also at the returns of the points that have one. Closing what
// it returns takes all away.
func (e *EmptyProbe) Attach(path string, pid int, points []Point, returns bool) (io.Closer, error) {
	ex, err := link.OpenExecutable(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	var links closers
	if opts := multiOptions(points, pid, true); returns && len(opts.Addresses) > 0 {
		l, err := ex.UretprobeMulti(nil, e.prog, opts)
		if err != nil {
			return nil, fmt.Errorf("attach empty return probes to %s: %w", path, err)
		}
		links = append(links, l)
	}
	l, err := ex.UprobeMulti(nil, e.prog, multiOptions(points, pid, false))
	if err != nil {
		links.Close()
		return nil, fmt.Errorf("attach empty probes to %s: %w", path, err)
	}
	return append(links, l), nil
}

// Close frees it.
func (e *EmptyProbe) Close() error {
	if e.coll != nil {
		e.coll.Close()
		return nil
	}
	return e.prog.Close()
}

// OpenEmptySampler opens a sampling event on every processor with a program
// that does nothing: what the kernel itself charges for an interrupt.
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
