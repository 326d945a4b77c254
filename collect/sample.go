package collect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	perf "github.com/elastic/go-perf"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/symbols"
	"ompp-attach/symbols/unwind"
)

// sampling is the part of a measurement that takes samples.
type sampling struct {
	kernel    *bpf.Sampler // nil: nothing is sampled
	as        profile.Sampling
	limit     samplingLimit
	throttled uint64 // guarded by Measurement.mu
	pcs       []uint64
	probed    probedCode // guarded by Measurement.mu
}

// sampledProcess is what is known of a process's samples; guarded by
// Measurement.mu.
type sampledProcess struct {
	lost      uint64
	throttled uint64    // the measurement's count when the process was first measured
	looked    time.Time // when its modules were last listed because of a sample
	returned  returned
	late      uint64 // ns from the program's start to the first sample; 0: sampled from the start
}

// Sample makes the measurement sample the call stacks of every process, by the event attr; as
// describes the event for the report. It must be called before any process is measured. It may
// lower the rate (see boundSampling).
func (m *Measurement) Sample(attr *perf.Attr, as profile.Sampling) error {
	k, err := m.kernel.LoadSampler()
	if err != nil {
		return fmt.Errorf("sample by %s: %w", as.Event, err)
	}
	bounded := *attr
	limit, err := boundSampling(k, &bounded, &as)
	if err == nil {
		err = k.Open(&bounded)
	}
	if err != nil {
		k.Close()
		return fmt.Errorf("sample by %s: %w", as.Event, err)
	}
	m.sampling.kernel, m.sampling.as, m.sampling.limit, m.sampling.probed = k, as, limit, probedCode{}
	if limit.told != "" && m.say != nil {
		m.say(limit.told)
	}
	return nil
}

// sampleIt begins to sample a process.
func (m *Measurement) sampleIt(p *Process) {
	if m.sampling.kernel == nil {
		return
	}
	if err := m.sampling.kernel.Sample(int(p.pid)); err != nil {
		m.logf("%v", err)
	}
}

// leaveSampling ends the sampling of a process.
func (m *Measurement) leaveSampling(p *Process) {
	if m.sampling.kernel == nil {
		return
	}
	lost := m.sampling.kernel.Leave(int(p.pid))
	m.mu.Lock()
	p.sampled.lost += lost
	m.mu.Unlock()
}

// relist is the least time between two listings of a process's modules because of samples that lie
// in none of them. Code that a program generates at run time never lies in one.
const relist = 200 * time.Millisecond

// feedSample feeds one sample; mu is held.
func (m *Measurement) feedSample(r *bpf.SampleRecord) {
	p := m.procs[r.Pid]
	if p == nil {
		m.strays++
		return
	}
	if _, known := symbols.Find(p.resolver.Modules(), r.Ip); !known && time.Since(p.sampled.looked) > relist {
		if mods, _ := p.mapped.Modules(); len(mods) > 0 {
			p.resolver.SetModules(mods)
		}
		p.sampled.looked = time.Now()
	}
	th := unwind.Thread{PC: r.Ip, Reg: r.Reg[:], Stack: r.Bytes, Trampoline: r.Trampoline, Returns: r.Returns[:]}
	s := event.Sample{Weight: r.Weight, Kernel: r.Flags&bpf.SampleKernel != 0, Changing: r.Flags&bpf.SampleChanging != 0}
	s.Probe = m.sampling.probed.probing(p.resolver.Modules(), p.sampled.returned, r)
	var complete bool
	s.Stack, complete = unwind.Stack(p.resolver.Modules(), &th, m.sampling.pcs[:0])
	s.Cut = !complete
	m.sampling.pcs = s.Stack
	for i, addr := range s.Stack {
		p.resolver.Bind(addr - uint64(min(i, 1)))
	}
	ev := event.Event{Time: r.Time, PID: r.Pid, TID: r.Tid, Edge: event.Sampled, Sample: &s}
	if p.recorder != nil { // the recorder keeps the slice
		s.Stack = append([]uint64(nil), s.Stack...)
	}
	p.feed(&ev)
}

// sampledAs describes how a process was sampled; nil if it was not.
func (m *Measurement) sampledAs(p *Process, prof *profile.Profile) *profile.Sampling {
	if m.sampling.kernel == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	as := m.sampling.as // keepSampling may change the period meanwhile
	for i := range prof.Samples {
		as.Taken += prof.Samples[i].Count
	}
	if told := m.sampling.limit.told; told != "" {
		prof.Warnings = append(prof.Warnings, strings.ToUpper(told[:1])+told[1:]+".")
	}
	if p.sampled.late != 0 {
		prof.Warnings = append(prof.Warnings, fmt.Sprintf("Samples of this process begin %.2f s after its start, when it first mapped something to be measured, or had run for a while.",
			float64(p.sampled.late)/1e9))
	}
	as.Lost, as.Throttled = p.sampled.lost, m.sampling.throttled-p.sampled.throttled
	if prof.Meta.Arch == "aarch64" && as.Unit != "ns" && m.counting != nil && len(m.counting.events) > 0 {
		// Seen in an emulated machine: a quarter to a third of the samples were
		// missing. A switch of threads reschedules the counters, which seems to clear
		// an overflow that is pending (drivers/perf/arm_pmuv3.c, armv8pmu_disable_intens).
		prof.Warnings = append(prof.Warnings, fmt.Sprintf("Samples by %s may be missing where hardware counters are read as well (arm64): shares are right, sums are too low; --counters none takes them all, and so does --sample task-clock.", as.Event))
	}
	return &as
}

// markMPI marks the samples that were taken in an MPI call. The engine cannot do that, because a
// call is reported only when it returns.
func markMPI(prof *profile.Profile) {
	job := prof.Meta.MPI
	if job == nil || job.Path == "" {
		return
	}
	inMPI := make([]bool, len(prof.Frames))
	for i := range prof.Frames {
		f := &prof.Frames[i]
		static := job.Path == prof.Meta.Path
		inMPI[i] = f.Object == job.Path && (!static || strings.HasPrefix(f.Function, "MPI_") || strings.HasPrefix(f.Function, "PMPI_"))
	}
	for i := range prof.Samples {
		s := &prof.Samples[i]
		if s.Phase != profile.PhaseProbe && slices.ContainsFunc(s.Stack, func(f int) bool { return inMPI[f] }) {
			s.Phase = profile.PhaseMPI
		}
	}
}

func (s *sampling) close() {
	if s.kernel != nil {
		s.kernel.Close()
	}
}
