package collect

import (
	"context"
	"fmt"

	perf "github.com/elastic/go-perf"

	"ompp-attach/bpf"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Sample makes the measurement sample the call stacks of every process, by the event attr; as
// describes the event for the report. It must be called before any process is measured. It may
// lower the rate, and then tells the user.
func (m *Measurement) Sample(attr *perf.Attr, as profile.Sampling) error {
	k, err := m.kernel.LoadSampler()
	if err == nil {
		err = m.reader.sampling.Start(k, attr, as)
	}
	if err != nil {
		return fmt.Errorf("sample by %s: %w", as.Event, err)
	}
	if told := m.reader.sampling.Told(); told != "" && m.say != nil {
		m.say(told)
	}
	return nil
}

// beginSampling begins to sample a process.
func (rd *reader) beginSampling(p *Process) {
	if err := rd.sampling.Begin(int(p.pid)); err != nil {
		rd.logf("%v", err)
	}
}

// endSampling ends the sampling of a process.
func (rd *reader) endSampling(p *Process) {
	lost := rd.sampling.End(int(p.pid))
	rd.mu.Lock()
	p.sampled.Lost += lost
	rd.mu.Unlock()
}

// feedSample feeds one sample; reader.mu is held.
func (rd *reader) feedSample(r *bpf.SampleRecord) {
	p := rd.procs[r.Pid]
	if p == nil {
		rd.strays++
		return
	}
	if p.sampled.Unlisted(p.resolver.Modules(), r) {
		if mods, _ := p.mapped.Modules(); len(mods) > 0 {
			p.resolver.SetModules(mods)
		}
	}
	ev := rd.sampling.Event(&p.sampled, p.resolver.Modules(), r)
	for i, addr := range ev.Sample.Stack {
		p.resolver.Bind(addr - uint64(min(i, 1)))
	}
	if p.recorder != nil { // the recorder keeps the slice
		ev.Sample.Stack = append([]uint64(nil), ev.Sample.Stack...)
	}
	p.feed(&ev)
}

// samplesAt tells the sampling of the probes that are about to be placed in a file. mu must not be
// held.
func (rd *reader) samplesAt(o *symbols.Object, probed []uint64) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	rd.sampling.Probes(o, probed)
}

// keepSampling keeps the rate of a counter's samples below the limit until ctx is done.
func (rd *reader) keepSampling(ctx context.Context) {
	rd.mu.Lock()
	keep := rd.sampling.Keeper(rd.samplesSlowed)
	rd.mu.Unlock()
	keep(ctx)
}

// samplesSlowed notes that a sample is taken less often from now on: every period times.
func (rd *reader) samplesSlowed(period uint64) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if rd.sampling.Slow(period) && rd.say != nil {
		rd.say(rd.sampling.Told())
	}
}

// describeSampling tells a profile how its process was sampled.
func (rd *reader) describeSampling(prof *profile.Profile, p *Process) {
	rd.mu.Lock() // samplesSlowed may change the period meanwhile
	defer rd.mu.Unlock()
	rd.sampling.Describe(prof, &p.sampled, rd.counting.Any())
}
