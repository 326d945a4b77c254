package collect

import (
	"context"
	"fmt"
	"time"

	perf "github.com/elastic/go-perf"

	"ompp-attach/bpf"
	"ompp-attach/collect/sampling"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/symbols"
	"ompp-attach/symbols/unwind"
)

// sampler is the part of a measurement that takes samples.
type sampler struct {
	kernel    *bpf.Sampler // nil: nothing is sampled
	as        profile.Sampling
	limit     sampling.Limit
	throttled uint64 // guarded by reader.mu
	pcs       []uint64
	probed    sampling.Probed // guarded by reader.mu
}

// sampledProcess is what is known of a process's samples; guarded by
// reader.mu.
type sampledProcess struct {
	lost      uint64
	throttled uint64    // the measurement's count when the process was first measured
	listed    time.Time // when its modules were last listed because of a sample
	returned  sampling.Returned
	late      uint64 // ns from the program's start to the first sample; 0: sampled from the start
}

// Sample makes the measurement sample the call stacks of every process, by the event attr; as
// describes the event for the report. It must be called before any process is measured. It may
// lower the rate (see sampling.Bound).
func (m *Measurement) Sample(attr *perf.Attr, as profile.Sampling) error {
	k, err := m.kernel.LoadSampler()
	if err != nil {
		return fmt.Errorf("sample by %s: %w", as.Event, err)
	}
	bounded := *attr
	limit, err := sampling.Bound(k, &bounded, &as)
	if err == nil {
		err = k.Open(&bounded)
	}
	if err != nil {
		k.Close()
		return fmt.Errorf("sample by %s: %w", as.Event, err)
	}
	m.reader.sampling.kernel, m.reader.sampling.as, m.reader.sampling.limit, m.reader.sampling.probed = k, as, limit, sampling.Probed{}
	if limit.Told != "" && m.say != nil {
		m.say(limit.Told)
	}
	return nil
}

// beginSampling begins to sample a process.
func (rd *reader) beginSampling(p *Process) {
	if rd.sampling.kernel == nil {
		return
	}
	if err := rd.sampling.kernel.Sample(int(p.pid)); err != nil {
		rd.logf("%v", err)
	}
}

// endSampling ends the sampling of a process.
func (rd *reader) endSampling(p *Process) {
	if rd.sampling.kernel == nil {
		return
	}
	lost := rd.sampling.kernel.Leave(int(p.pid))
	rd.mu.Lock()
	p.sampled.lost += lost
	rd.mu.Unlock()
}

// relist is the least time between two listings of a process's modules because of samples that lie
// in none of them. Code that a program generates at run time never lies in one.
const relist = 200 * time.Millisecond

// feedSample feeds one sample; reader.mu is held.
func (rd *reader) feedSample(r *bpf.SampleRecord) {
	p := rd.procs[r.Pid]
	if p == nil {
		rd.strays++
		return
	}
	if _, known := symbols.Find(p.resolver.Modules(), r.Ip); !known && time.Since(p.sampled.listed) > relist {
		if mods, _ := p.mapped.Modules(); len(mods) > 0 {
			p.resolver.SetModules(mods)
		}
		p.sampled.listed = time.Now()
	}
	th := unwind.Thread{PC: r.Ip, Reg: r.Reg[:], Stack: r.Bytes, Trampoline: r.Trampoline, Returns: r.Returns[:]}
	s := event.Sample{Weight: r.Weight, Kernel: r.Flags&bpf.SampleKernel != 0, Changing: r.Flags&bpf.SampleChanging != 0}
	s.Probe = rd.sampling.probed.Probing(p.resolver.Modules(), p.sampled.returned, r)
	var complete bool
	s.Stack, complete = unwind.Stack(p.resolver.Modules(), &th, rd.sampling.pcs[:0])
	s.Cut = !complete
	rd.sampling.pcs = s.Stack
	for i, addr := range s.Stack {
		p.resolver.Bind(addr - uint64(min(i, 1)))
	}
	ev := event.Event{Time: r.Time, PID: r.Pid, TID: r.Tid, Edge: event.Sampled, Sample: &s}
	if p.recorder != nil { // the recorder keeps the slice
		s.Stack = append([]uint64(nil), s.Stack...)
	}
	p.feed(&ev)
}

// samplesAt tells the sampling of the probes that are about to be placed in a file. mu must not be
// held.
func (rd *reader) samplesAt(o *symbols.Object, probed []uint64) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if rd.sampling.kernel == nil {
		return
	}
	for _, vaddr := range probed {
		rd.sampling.probed.Add(o, vaddr)
	}
}

// keepSampling keeps the rate of a counter's samples below the limit until ctx is done.
func (rd *reader) keepSampling(ctx context.Context) {
	s := &rd.sampling
	rd.mu.Lock()
	period := s.as.Period
	rd.mu.Unlock()
	s.kernel.KeepTo(ctx, period, s.limit.Rate, rd.samplesSlowed)
}

// samplesSlowed notes that a sample is taken less often from now on: every period times.
func (rd *reader) samplesSlowed(period uint64) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	s := &rd.sampling
	told := s.limit.Told
	s.limit.Told = fmt.Sprintf("samples came so fast that they would take over %.0f %% of the program's time: one is taken every %d times now", 100*sampling.Most, period)
	if told == "" && rd.say != nil {
		rd.say(s.limit.Told)
	}
	s.as.Period = period
}

func (s *sampler) close() {
	if s.kernel != nil {
		s.kernel.Close()
	}
}
