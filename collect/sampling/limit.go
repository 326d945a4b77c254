package sampling

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/elastic/go-perf"

	"ompp-attach/bpf"
	"ompp-attach/profile"
)

const (
	// most is the share of a processor's time that samples may take.
	most = 0.05
	// fewSamples is a number of samples a second that costs little on any machine, so that the cost
	// is not measured.
	fewSamples = 500
	// dearSample is the highest known cost of a sample. It is assumed where the cost could not be
	// measured.
	dearSample = 50 * time.Microsecond
)

// limit is the highest rate of samples.
type limit struct {
	rate float64 // samples a second on each processor
	keep bool    // the rate is not known in advance and has to be watched
	told string  // a sentence: how the rate was lowered; "": it was not
}

// bound lowers the rate that was asked for so that samples take no more than most
// of a processor's time. If a counter is sampled at every n-th count, the rate is known only when
// samples come: Sampler.KeepTo watches it.
func bound(k *bpf.Sampler, a *perf.Attr, as *profile.Sampling) (limit, error) {
	asked, clock := math.Inf(1), a.Type == perf.SoftwareEvent
	switch {
	case clock:
		asked = float64(time.Second) / float64(max(1, a.Sample))
	case a.Options.Freq:
		asked = float64(a.Sample)
	}
	if asked <= fewSamples {
		return limit{}, nil
	}
	cost, err := k.Cost(a)
	if err != nil {
		if !errors.Is(err, bpf.ErrTooBusy) {
			return limit{}, err
		}
		cost = dearSample
	}
	l := limit{rate: most / max(cost, time.Microsecond).Seconds()}
	if l.keep = math.IsInf(asked, 1); asked <= l.rate || l.keep {
		return l, nil
	}
	rate := uint64(l.rate)
	l.told = fmt.Sprintf("a sample costs %.1f us here, so %d are taken a second instead of %.0f: more would take over %.0f %% of the program's time",
		float64(cost)/1e3, rate, asked, 100*most)
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
