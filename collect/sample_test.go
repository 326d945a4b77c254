package collect

import (
	"sync"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/profile"
)

// A snapshot describes how a process is sampled while the rate of samples is lowered. The race
// detector sees if the two use the description without a lock.
func TestSampledAsWhileTheRateIsLowered(t *testing.T) {
	m := assemble(&common{logf: t.Logf})
	m.reader.sampling.kernel = &bpf.Sampler{}
	m.reader.sampling.as.Period = 1
	const lowered = 20000
	var both sync.WaitGroup
	both.Go(func() {
		for period := uint64(2); period <= lowered; period++ {
			m.reader.samplesSlowed(period)
		}
	})
	both.Go(func() {
		for range lowered {
			if as := m.profiles.sampledAs(&Process{}, &profile.Profile{}); as.Period == 0 {
				t.Error("the period is not told")
			}
		}
	})
	both.Wait()
	if as := m.profiles.sampledAs(&Process{}, &profile.Profile{}); as.Period != lowered {
		t.Errorf("told a period of %d, want %d", as.Period, lowered)
	}
}
