package bpf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"github.com/cilium/ebpf"
	perf "github.com/elastic/go-perf"
)

// SampleRecord says where a thread was; the fields' comments are in sample.h.
type SampleRecord struct {
	sampleSampleRecord
	Bytes []byte // the stack from the stack pointer up; valid until the next record
}

// Flags of a SampleRecord; the comments are in sample.h.
const (
	SampleKernel   = uint16(sampleSampleFlagSAMPLE_KERNEL)
	SampleChanging = uint16(sampleSampleFlagSAMPLE_CHANGING)
	recSample      = uint16(sampleSampleFlagREC_SAMPLE)
)

// SampleStack is the largest number of bytes of a stack in a sample (sample.h).
const SampleStack = 32768

// isSample reports whether a ring entry is a sample.
func isSample(b []byte) bool {
	return len(b) > int(unsafe.Sizeof(sampleSampleRecord{})) && binary.NativeEndian.Uint16(b[flagsAt:])&recSample != 0
}

// decodeSample turns a ring entry into a record, which uses the entry's memory.
func decodeSample(b []byte, r *SampleRecord) error {
	const head = int(unsafe.Sizeof(r.sampleSampleRecord))
	if err := decode(b[:head], &r.sampleSampleRecord); err != nil {
		return err
	}
	if r.Stack > uint64(len(b)-head) {
		return fmt.Errorf("%w: %d bytes of stack", ErrShortRecord, r.Stack)
	}
	r.Bytes = b[head : head+int(r.Stack)]
	return nil
}

// Sampler is the loaded kernel side of sampling. It uses one event per processor. An overflow
// counts if the processor then runs a thread of a sampled process. So new threads are sampled from
// their first instruction, and no cost grows with the number of threads. Samples go to the rings of
// the probes for which the Sampler was loaded.
type Sampler struct {
	coll   *ebpf.Collection
	events []*perf.Event
}

// LoadSampler loads the sampling program. Open starts the sampling.
func (p *Probes) LoadSampler() (*Sampler, error) {
	spec, err := loadSample()
	if err != nil {
		return nil, err
	}
	if err := spec.Variables[sampleVarNumCounters].Set(uint32(len(p.counters.Sources))); err != nil {
		return nil, err
	}
	shared := map[string]*ebpf.Map{}
	p.shareFolds(shared)
	for _, name := range []string{probeMapThreads, probeMapSilent, ".data.shared"} {
		shared[name] = p.coll.Maps[name]
	}
	if err := p.shareRings(spec, shared); err != nil {
		return nil, err
	}
	s := &Sampler{}
	if s.coll, err = newCollection(spec, shared); err != nil {
		return nil, fmt.Errorf("load the sampling program: %w", err)
	}
	return s, nil
}

// Open opens the event on every processor, and starts the sampling.
func (s *Sampler) Open(attr *perf.Attr) error {
	return s.open(attr, s.coll.Programs[sampleProgOnSample])
}

func (s *Sampler) open(attr *perf.Attr, prog *ebpf.Program) error {
	cpus, err := onlineCPUs()
	if err != nil {
		return err
	}
	timed := *attr
	timed.CountFormat.Enabled = true // KeepTo needs the time of a count
	for _, cpu := range cpus {
		e, err := perf.Open(&timed, perf.AllThreads, cpu, nil)
		if err != nil {
			return fmt.Errorf("open the sampling event on processor %d: %w", cpu, err)
		}
		s.events = append(s.events, e)
		if err := e.SetBPF(uint32(prog.FD())); err != nil {
			return fmt.Errorf("attach the sampling program: %w", err)
		}
		// The ring only receives the kernel's notes on throttling: the program's answer keeps
		// samples out.
		if err := e.MapRingNumPages(1); err != nil {
			return fmt.Errorf("map the sampling event's ring: %w", err)
		}
		if err := e.Enable(); err != nil {
			return fmt.Errorf("start sampling: %w", err)
		}
	}
	return nil
}

// onlineCPUs returns the numbers of the processors that are in use.
func onlineCPUs() (cpus []int, err error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("list the processors: %w", err)
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		lo, err1 := strconv.Atoi(first)
		hi, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("list the processors: %q is no range", part)
		}
		for c := lo; c <= hi; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// Sample starts sampling a process.
func (s *Sampler) Sample(pid int) error {
	if err := s.coll.Maps[sampleMapSampling].Put(uint32(pid), sampleSampled{}); err != nil {
		return fmt.Errorf("sample process %d: %w", pid, err)
	}
	return nil
}

// Leave ends the sampling of a process, and returns how many of its samples were lost because a
// ring had no room.
func (s *Sampler) Leave(pid int) (lost uint64) {
	var v sampleSampled
	if s.coll.Maps[sampleMapSampling].LookupAndDelete(uint32(pid), &v) != nil {
		return 0
	}
	return v.Lost
}

// Throttled returns how often the kernel has paused an event since the last call, because samples
// came faster than the kernel allows.
func (s *Sampler) Throttled() (n uint64) {
	for _, e := range s.events {
		for e.HasRecord() {
			var r perf.RawRecord
			if e.ReadRawRecord(context.Background(), &r) != nil {
				break
			}
			if r.Header.Type == perf.RecordTypeThrottle {
				n++
			}
		}
	}
	return n
}

// Close ends sampling and frees the kernel side.
func (s *Sampler) Close() error {
	var errs []error
	for _, e := range s.events {
		errs = append(errs, e.Close())
	}
	if s.coll != nil {
		s.coll.Close()
	}
	return errors.Join(errs...)
}
