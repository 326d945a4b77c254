package collect

import (
	"os"
	"sync"
	"testing"

	"ompp-attach/collect/sampling"
	"ompp-attach/perfcounters"
	"ompp-attach/profile"
)

// A snapshot describes how a process is sampled while the rate of samples is lowered. The race
// detector sees if the two use the description without a lock.
func TestSampledAsWhileTheRateIsLowered(t *testing.T) {
	m := assemble(&common{kernel: kernelSide(t), logf: t.Logf})
	attr, as, err := sampling.Parse(perfcounters.NewMachine(os.DirFS("/sys/bus/event_source/devices")), "task-clock:1", 0)
	if err != nil {
		t.Fatal(err)
	}
	as.Period = 1
	if err := m.Sample(attr, as); err != nil {
		t.Fatal(err)
	}
	defer m.reader.sampling.Close()
	told := func() uint64 {
		var p profile.Profile
		m.reader.describeSampling(&p, &Process{})
		return p.Meta.Sampling.Period
	}
	const lowered = 20000
	var both sync.WaitGroup
	both.Go(func() {
		for period := uint64(2); period <= lowered; period++ {
			m.reader.samplesSlowed(period)
		}
	})
	both.Go(func() {
		for range lowered {
			if told() == 0 {
				t.Error("the period is not told")
			}
		}
	})
	both.Wait()
	if period := told(); period != lowered {
		t.Errorf("told a period of %d, want %d", period, lowered)
	}
}
