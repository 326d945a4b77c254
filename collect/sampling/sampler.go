package sampling

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/elastic/go-perf"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/symbols"
	"ompp-attach/symbols/unwind"
)

// Sampler takes the samples of a measurement. The zero value takes none.
// The caller's lock guards it.
type Sampler struct {
	kernel    *bpf.Sampler // nil: nothing is sampled
	as        profile.Sampling
	limit     limit
	throttled uint64 // how often the kernel has throttled the event so far
	pcs       []uint64
	probed    probedPlaces
}

// Process is what is known of a process's samples. The caller's lock guards it.
type Process struct {
	Lost uint64 // samples that found no room
	// ns from the program's start to the first sample; 0: sampled from the start.
	Late      uint64
	throttled uint64    // the sampler's count when the process was first measured
	listed    time.Time // when its modules were last listed because of a sample
	returned  returnedTo
}

// Start begins to sample by the event attr; as describes the event for the report. The rate may be
// lower than asked for, see bound. The sampler owns k from here on, and closes k if Start fails.
func (s *Sampler) Start(k *bpf.Sampler, attr *perf.Attr, as profile.Sampling) error {
	bounded := *attr
	limit, err := bound(k, &bounded, &as)
	if err == nil {
		err = k.Open(&bounded)
	}
	if err != nil {
		k.Close()
		return err
	}
	*s = Sampler{kernel: k, as: as, limit: limit, probed: probedPlaces{}}
	return nil
}

// On tells whether anything is sampled.
func (s *Sampler) On() bool { return s.kernel != nil }

// Close frees the kernel side.
func (s *Sampler) Close() {
	if s.On() {
		s.kernel.Close()
	}
}

// Told is a sentence about how the rate was lowered; "": it was not.
func (s *Sampler) Told() string { return s.limit.told }

// Begin begins to sample a process.
func (s *Sampler) Begin(pid int) error {
	if !s.On() {
		return nil
	}
	return s.kernel.Sample(pid)
}

// End ends the sampling of a process, and returns how many samples were lost since Begin.
func (s *Sampler) End(pid int) (lost uint64) {
	if !s.On() {
		return 0
	}
	return s.kernel.Leave(pid)
}

// Measures notes that a process is measured from now on.
func (s *Sampler) Measures(p *Process) { p.throttled, p.returned = s.throttled, returnedTo{} }

// CountThrottled counts how often the kernel has throttled the event since the last call.
func (s *Sampler) CountThrottled() {
	if s.On() {
		s.throttled += s.kernel.Throttled()
	}
}

// Probes tells of the virtual addresses in a file at which probes are about to be placed.
func (s *Sampler) Probes(o *symbols.Object, probed []uint64) {
	if !s.On() {
		return
	}
	for _, vaddr := range probed {
		s.probed.add(o, vaddr)
	}
}

// relist is the least time between two listings of a process's modules because of samples that lie
// in none of them. Code that a program generates at run time never lies in one.
const relist = 200 * time.Millisecond

// Unlisted tells whether the modules of a process should be listed anew, because a sample lies in
// none of them.
func (p *Process) Unlisted(mods []symbols.Module, r *bpf.SampleRecord) bool {
	if _, known := symbols.Find(mods, r.Ip); known || time.Since(p.listed) <= relist {
		return false
	}
	p.listed = time.Now()
	return true
}

// Event makes the event of a sample of a process, which maps the modules. The event's stack is
// valid until the next call.
func (s *Sampler) Event(p *Process, mods []symbols.Module, r *bpf.SampleRecord) event.Event {
	th := unwind.Thread{PC: r.Ip, Reg: r.Reg[:], Stack: r.Bytes, Trampoline: r.Trampoline, Returns: r.Returns[:]}
	sample := event.Sample{Weight: r.Weight, Kernel: r.Flags&bpf.SampleKernel != 0, Changing: r.Flags&bpf.SampleChanging != 0}
	sample.Probe = s.probed.probing(mods, p.returned, r)
	var complete bool
	sample.Stack, complete = unwind.Stack(mods, &th, s.pcs[:0])
	sample.Cut = !complete
	s.pcs = sample.Stack
	return event.Event{Time: r.Time, PID: r.Pid, TID: r.Tid, Edge: event.Sampled, Sample: &sample}
}

// Unbounded tells whether the rate of samples is known only when they come, so that Keep is needed.
func (s *Sampler) Unbounded() bool { return s.limit.keep }

// Keeper returns a function that keeps the rate of a counter's samples below the limit until ctx is
// done. The function holds no lock. It calls slowed when a sample is to be taken less often.
func (s *Sampler) Keeper(slowed func(period uint64)) func(ctx context.Context) {
	kernel, period, rate := s.kernel, s.as.Period, s.limit.rate
	return func(ctx context.Context) { kernel.KeepTo(ctx, period, rate, slowed) }
}

// Slow notes that a sample is taken less often from now on: every period times. first tells that
// this is the first time, so that the user has to be told.
func (s *Sampler) Slow(period uint64) (first bool) {
	first = s.limit.told == ""
	s.limit.told = fmt.Sprintf("samples came so fast that they would take over %.0f %% of the program's time: one is taken every %d times now", 100*most, period)
	s.as.Period = period
	return first
}

// Describe tells a profile how its process was sampled, also in warnings. counted tells whether
// hardware counters were read as well.
func (s *Sampler) Describe(prof *profile.Profile, p *Process, counted bool) {
	if !s.On() {
		return
	}
	warn := func(format string, args ...any) {
		prof.Warnings = append(prof.Warnings, fmt.Sprintf(format, args...))
	}
	as := s.as
	for i := range prof.Samples {
		as.Taken += prof.Samples[i].Count
	}
	if told := s.limit.told; told != "" {
		warn("%s%s.", strings.ToUpper(told[:1]), told[1:])
	}
	if p.Late != 0 {
		warn("Samples of this process begin %.2f s after its start, when it first mapped something to be measured, or had run for a while.", float64(p.Late)/1e9)
	}
	as.Lost, as.Throttled = p.Lost, s.throttled-p.throttled
	if prof.Meta.Arch == "aarch64" && as.Unit != "ns" && counted {
		// Seen in an emulated machine: a quarter to a third of the samples were
		// missing. A switch of threads reschedules the counters, which seems to clear
		// an overflow that is pending (drivers/perf/arm_pmuv3.c, armv8pmu_disable_intens).
		warn("Samples by %s may be missing where hardware counters are read as well (arm64): shares are right, sums are too low; --counters none takes them all, and so does --sample task-clock.", as.Event)
	}
	prof.Meta.Sampling = &as
}
