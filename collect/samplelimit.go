package collect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	perf "github.com/elastic/go-perf"

	"ompp-attach/bpf"
	"ompp-attach/profile"
)

const (
	// mostSampling is the share of a processor's time that samples may take.
	mostSampling = 0.05
	// fewSamples is a number of samples a second that costs little on any machine, so that the cost
	// is not measured.
	fewSamples = 500
	// dearSample is the highest known cost of a sample. It is assumed where the cost could not be
	// measured.
	dearSample = 50 * time.Microsecond
)

// samplingLimit is the highest rate of samples.
type samplingLimit struct {
	rate float64 // samples a second on each processor
	keep bool    // the rate is not known in advance and has to be watched
	told string  // a sentence: how the rate was lowered; "": it was not
}

// boundSampling lowers the rate that was asked for so that samples take no more than mostSampling
// of a processor's time. If a counter is sampled at every n-th count, the rate is known only when
// samples come: Sampler.KeepTo watches it.
func boundSampling(k *bpf.Sampler, a *perf.Attr, as *profile.Sampling) (samplingLimit, error) {
	asked, clock := math.Inf(1), a.Type == perf.SoftwareEvent
	switch {
	case clock:
		asked = float64(time.Second) / float64(max(1, a.Sample))
	case a.Options.Freq:
		asked = float64(a.Sample)
	}
	if asked <= fewSamples {
		return samplingLimit{}, nil
	}
	cost, err := k.Cost(a)
	if err != nil {
		if !errors.Is(err, bpf.ErrTooBusy) {
			return samplingLimit{}, err
		}
		cost = dearSample
	}
	l := samplingLimit{rate: mostSampling / max(cost, time.Microsecond).Seconds()}
	if l.keep = math.IsInf(asked, 1); asked <= l.rate || l.keep {
		return l, nil
	}
	rate := uint64(l.rate)
	l.told = fmt.Sprintf("a sample costs %.1f us here, so %d are taken a second instead of %.0f: more would take over %.0f %% of the program's time",
		float64(cost)/1e3, rate, asked, 100*mostSampling)
	if clock {
		a.SetSamplePeriod(uint64(time.Second) / rate)
	} else {
		a.SetSampleFreq(rate)
	}
	if as.Period != 0 {
		as.Period = a.Sample
	} else {
		as.Frequency = rate
	}
	return l, nil
}

// keepSampling keeps the rate of a counter's samples below the limit until ctx is done.
func (rd *reader) keepSampling(ctx context.Context) {
	s := &rd.sampling
	rd.mu.Lock()
	period := s.as.Period
	rd.mu.Unlock()
	s.kernel.KeepTo(ctx, period, s.limit.rate, rd.samplesSlowed)
}

// samplesSlowed notes that a sample is taken less often from now on: every period times.
func (rd *reader) samplesSlowed(period uint64) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	s := &rd.sampling
	told := s.limit.told
	s.limit.told = fmt.Sprintf("samples came so fast that they would take over %.0f %% of the program's time: one is taken every %d times now", 100*mostSampling, period)
	if told == "" && rd.say != nil {
		rd.say(s.limit.told)
	}
	s.as.Period = period
}
