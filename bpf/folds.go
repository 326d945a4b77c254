package bpf

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// FoldRecord holds the sums of several executions of a construct; the fields' comments are in
// shared.h.
type FoldRecord = probeFoldRecord

// What a row does at a hit if its construct is folded; the comments are in shared.h.
const (
	RowFoldBegin    = uint32(probeRowFlagROW_FOLD_BEGIN)
	RowFoldEnd      = uint32(probeRowFlagROW_FOLD_END)
	RowFoldByName   = uint32(probeRowFlagROW_FOLD_BY_NAME)
	RowFoldTest     = uint32(probeRowFlagROW_FOLD_TEST)
	RowFoldTestBool = uint32(probeRowFlagROW_FOLD_TEST_BOOL)

	recFolded = uint16(probeRecordFlagREC_FOLDED)
)

// FoldGroups is how many constructs a row's flags can tell apart: FOLD_GROUP of shared.h has five
// bits, and 0 means none.
const FoldGroups = 31

// FoldGroup returns the part of a row's flags that tells which construct the row begins or ends. n
// is the construct's number, from 1 to FoldGroups (see event.Construct.FoldIndex).
func FoldGroup(n uint8) uint32 {
	const shift = 21 // FOLD_GROUP_SHIFT of shared.h: macros are not generated
	return uint32(n&FoldGroups) << shift
}

// folds holds what folding needs besides the probes.
type folds struct {
	links []io.Closer
	walk  *link.Iter

	mu    sync.Mutex // guards the fields below, and the walk over threads
	holds int
}

// foldPrograms are loaded in every mode.
var foldPrograms = map[string]bool{probeProgFoldExit: true, probeProgFoldExec: true, probeProgFoldSettle: true}

// startFolding attaches the programs that settle threads which end or execute another program.
func (p *Probes) startFolding() error {
	for _, name := range []string{probeProgFoldExit, probeProgFoldExec} {
		l, err := link.AttachTracing(link.TracingOptions{Program: p.coll.Programs[name]})
		if err != nil {
			return fmt.Errorf("attach to the ends of threads: %w", err)
		}
		p.folds.links = append(p.folds.links, l)
	}
	var err error
	if p.folds.walk, err = link.AttachIter(link.IterOptions{Program: p.coll.Programs[probeProgFoldSettle]}); err != nil {
		return fmt.Errorf("attach to the list of threads: %w", err)
	}
	return nil
}

func (f *folds) close() {
	for _, l := range f.links {
		l.Close()
	}
	if f.walk != nil {
		f.walk.Close()
	}
}

// HoldFolds keeps all threads from folding until LetFold was called once for each HoldFolds. Every
// folded execution ends before HoldFolds returns, or begins after the last LetFold. So a time that
// is taken in between lies inside no sum.
func (p *Probes) HoldFolds() error { return p.holdFolds(1) }

// LetFold undoes HoldFolds.
func (p *Probes) LetFold() error { return p.holdFolds(-1) }

func (p *Probes) holdFolds(more int) error {
	f := &p.folds
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds += more
	if err := p.coll.Variables[probeVarFoldHold].Set(uint32(f.holds)); err != nil {
		return fmt.Errorf("hold what is folded: %w", err)
	}
	return nil
}

// FoldBySP makes the kernel side add up only executions that have the same stack pointer.
func (p *Probes) FoldBySP() error {
	if err := p.coll.Variables[probeVarFoldBySp].Set(uint32(1)); err != nil {
		return fmt.Errorf("fold by stack pointer: %w", err)
	}
	return nil
}

// ArmAll makes the kernel side report the return of every call, also of rows with RowSparse, where
// the return tells little (sparse.h).
func (p *Probes) ArmAll() error {
	if err := p.coll.Variables[probeVarExactEdges].Set(uint32(1)); err != nil {
		return fmt.Errorf("report all returns: %w", err)
	}
	return nil
}

// LeavesOut tells whether the kernel side may leave out returns that tell little (sparse.h).
func (p *Probes) LeavesOut() bool {
	var all uint32
	err := p.coll.Variables[probeVarExactEdges].Get(&all)
	return err == nil && all == 0 && p.mode == Session && len(p.counters.Sources) == 0
}

// ErrUnsettled says that some threads could not settle, because they were changing what they had
// folded.
var ErrUnsettled = errors.New("threads were changing what they had folded")

// SettleFolds writes what the threads of a process have folded. The process's probes must be gone,
// or the process must be stopped (then stopped is true). Its error wraps ErrUnsettled if threads
// stay busy for 20 ms.
func (p *Probes) SettleFolds(pid int, stopped bool) error {
	const patience, pause = 20 * time.Millisecond, 200 * time.Microsecond
	f := &p.folds
	f.mu.Lock()
	defer f.mu.Unlock()
	var only uint32
	if stopped {
		only = 1
	}
	for name, v := range map[string]uint32{probeVarSettling: uint32(pid), probeVarSettlingStopped: only} {
		if err := p.coll.Variables[name].Set(v); err != nil {
			return fmt.Errorf("settle what is folded: %w", err)
		}
	}
	for begin := time.Now(); ; time.Sleep(pause) {
		r, err := f.walk.Open()
		if err != nil {
			return fmt.Errorf("settle what is folded: %w", err)
		}
		left, err := io.Copy(io.Discard, r)
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("settle what is folded: %w", err)
		}
		if left == 0 {
			return nil
		}
		if time.Since(begin) > patience {
			return fmt.Errorf("settle what is folded: %w", ErrUnsettled)
		}
	}
}

// shareFolds adds the maps that programs of other objects need in order to settle threads.
func (p *Probes) shareFolds(with map[string]*ebpf.Map) {
	for _, name := range []string{probeMapRows, probeMapDropped} {
		with[name] = p.coll.Maps[name]
	}
}
