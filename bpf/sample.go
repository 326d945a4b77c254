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

// SampleRecord is where a thread was; the fields' comments are in sample.h.
type SampleRecord struct {
	sampleSampleRecord
	Bytes []byte // of the stack, from the stack pointer up; valid until the next record
}

// Flags of a SampleRecord.
const (
	SampleKernel   = uint16(sampleSampleFlagSAMPLE_KERNEL)
	SampleChanging = uint16(sampleSampleFlagSAMPLE_CHANGING)
	recSample      = uint16(sampleSampleFlagREC_SAMPLE)
)

// SampleStack is how much of a stack a sample holds at most.
const SampleStack = 32768

// isSample tells samples from records of probes.
func isSample(b []byte) bool {
	return len(b) > int(unsafe.Sizeof(sampleSampleRecord{})) && binary.NativeEndian.Uint16(b[flagsAt:])&recSample != 0
}

// decodeSample makes a ring entry, which must be kept, a record.
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

// Sampler is the loaded kernel side of sampling: an event per processor, of
// whose overflows those count that find a sampled process there. So threads
// that are born later are sampled from their first instruction, and nothing
// grows with the number of threads. It writes to the rings of the runtime
// probes that it was loaded for.
type Sampler struct {
	coll   *ebpf.Collection
	events []*perf.Event
}

// LoadSampler loads the sampling program. Open lets it sample.
func (p *Probes) LoadSampler() (*Sampler, error) {
	spec, err := loadSample()
	if err != nil {
		return nil, err
	}
	if err := spec.Variables[sampleVarNumRings].Set(uint32(len(p.rings))); err != nil {
		return nil, err
	}
	if err := spec.Variables[sampleVarNumCounters].Set(uint32(len(p.counters.Sources))); err != nil {
		return nil, err
	}
	shared := map[string]*ebpf.Map{}
	p.shareFolds(shared)
	for _, name := range []string{probeMapRings, probeMapThreads, probeMapSilent, ".data.shared"} {
		shared[name] = p.coll.Maps[name]
	}
	spec.Maps[sampleMapRings].InnerMap.MaxEntries = ringBytes(len(p.rings))
	s := &Sampler{}
	if s.coll, err = newCollection(spec, shared, nil); err != nil {
		return nil, fmt.Errorf("load the sampling program: %w", err)
	}
	return s, nil
}

// Open opens the event on every processor.
func (s *Sampler) Open(attr *perf.Attr) error {
	return s.open(attr, s.coll.Programs[sampleProgOnSample])
}

func (s *Sampler) open(attr *perf.Attr, prog *ebpf.Program) error {
	cpus, err := onlineCPUs()
	if err != nil {
		return err
	}
	for _, cpu := range cpus {
		e, err := perf.Open(attr, perf.AllThreads, cpu, nil)
		if err != nil {
			return fmt.Errorf("open the sampling event on processor %d: %w", cpu, err)
		}
		s.events = append(s.events, e)
		if err := e.SetBPF(uint32(prog.FD())); err != nil {
			return fmt.Errorf("attach the sampling program: %w", err)
		}
		// Only for what the kernel says of throttling: the program's answer
		// keeps samples out.
		if err := e.MapRingNumPages(1); err != nil {
			return fmt.Errorf("map the sampling event's ring: %w", err)
		}
		if err := e.Enable(); err != nil {
			return fmt.Errorf("start sampling: %w", err)
		}
	}
	return nil
}

// onlineCPUs reads the list of processors that are in use.
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

// Leave ends sampling a process, and returns how many of its samples could not
// be stored.
func (s *Sampler) Leave(pid int) (lost uint64) {
	var v sampleSampled
	if s.coll.Maps[sampleMapSampling].LookupAndDelete(uint32(pid), &v) != nil {
		return 0
	}
	return v.Lost
}

// Throttled returns how often the kernel has paused an event since the last
// call, because samples came faster than it allows.
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
