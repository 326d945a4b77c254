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
	// Most is the share of a processor's time that samples may take.
	Most = 0.05
	// fewSamples is a number of samples a second that costs little on any machine, so that the cost
	// is not measured.
	fewSamples = 500
	// dearSample is the highest known cost of a sample. It is assumed where the cost could not be
	// measured.
	dearSample = 50 * time.Microsecond
)

// Limit is the highest rate of samples.
type Limit struct {
	Rate float64 // samples a second on each processor
	Keep bool    // the rate is not known in advance and has to be watched
	Told string  // a sentence: how the rate was lowered; "": it was not
}

// Bound lowers the rate that was asked for so that samples take no more than Most
// of a processor's time. If a counter is sampled at every n-th count, the rate is known only when
// samples come: Sampler.KeepTo watches it.
func Bound(k *bpf.Sampler, a *perf.Attr, as *profile.Sampling) (Limit, error) {
	asked, clock := math.Inf(1), a.Type == perf.SoftwareEvent
	switch {
	case clock:
		asked = float64(time.Second) / float64(max(1, a.Sample))
	case a.Options.Freq:
		asked = float64(a.Sample)
	}
	if asked <= fewSamples {
		return Limit{}, nil
	}
	cost, err := k.Cost(a)
	if err != nil {
		if !errors.Is(err, bpf.ErrTooBusy) {
			return Limit{}, err
		}
		cost = dearSample
	}
	l := Limit{Rate: Most / max(cost, time.Microsecond).Seconds()}
	if l.Keep = math.IsInf(asked, 1); asked <= l.Rate || l.Keep {
		return l, nil
	}
	rate := uint64(l.Rate)
	l.Told = fmt.Sprintf("a sample costs %.1f us here, so %d are taken a second instead of %.0f: more would take over %.0f %% of the program's time",
		float64(cost)/1e3, rate, asked, 100*Most)
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
