package bpf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	perf "github.com/elastic/go-perf"
	"golang.org/x/sys/unix"
)

// costRate is how many samples Cost takes per second.
const costRate = 2000

// ErrTooBusy says that the machine is too busy for measuring what a sample costs.
var ErrTooBusy = errors.New("measure what a sample costs: the machine is too busy")

// Cost measures how much of a thread's time a sample by the event takes. One of our own threads
// reads the clock all the time and is sampled meanwhile. The measurement takes some 20 ms. The
// error is ErrTooBusy on a busy machine.
func (s *Sampler) Cost(attr *perf.Attr) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := *attr
	if a.Type == perf.SoftwareEvent {
		a.SetSamplePeriod(uint64(time.Second) / costRate)
	} else {
		a.SetSampleFreq(costRate)
	}
	pid := os.Getpid()
	// the cost includes storing the sample, so this process must be a sampled one
	if err := s.Sample(pid); err != nil {
		return 0, err
	}
	defer s.Leave(pid)
	e, err := perf.Open(&a, unix.Gettid(), perf.AnyCPU, nil)
	if err != nil {
		return 0, fmt.Errorf("open the sampling event on a thread of ours: %w", err)
	}
	defer e.Close()
	if err := e.SetBPF(uint32(s.coll.Programs[sampleProgOnSample].FD())); err != nil {
		return 0, fmt.Errorf("attach the sampling program: %w", err)
	}
	if err := e.Enable(); err != nil {
		return 0, fmt.Errorf("start sampling: %w", err)
	}
	gaps, ran := gaps()
	return costOf(gaps, int(ran.Seconds()*costRate))
}

// gaps reads the clock until the thread has run for long enough. It returns how long each reading
// took, and how long the thread ran.
func gaps() (gaps []time.Duration, ran time.Duration) {
	const enough, patience = 20 * time.Millisecond, 400 * time.Millisecond
	const few = 1 << 16
	gaps = make([]time.Duration, 0, 4*few)
	begin, cpu := time.Now(), threadTime()
	for last := begin; ran < enough && last.Sub(begin) < patience; ran = threadTime() - cpu {
		for range few / 64 {
			now := time.Now()
			if len(gaps) == cap(gaps) {
				slices.Sort(gaps) // only the longest readings matter
				gaps = append(gaps[:0], gaps[len(gaps)-few:]...)
				now = time.Now()
				last = now
			}
			gaps = append(gaps, now.Sub(last))
			last = now
		}
		last = time.Now() // leaves out threadTime, which takes longer
	}
	return gaps, ran
}

// costOf returns the cost of a sample from the times of the clock's readings, if there were n
// samples. The n longest readings are taken for those that a sample interrupted. The result is
// their lower quartile, without the time of a usual reading. On a busy machine some readings are
// long for other reasons, and some samples take longer than usual.
func costOf(gaps []time.Duration, n int) (time.Duration, error) {
	const least = 10
	if n < least || n > len(gaps) {
		return 0, ErrTooBusy
	}
	slices.Sort(gaps)
	longest := gaps[len(gaps)-n:]
	return longest[n/4] - gaps[len(gaps)/2], nil
}

// threadTime returns how long this thread has had a processor.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// counter is an event that counts, and gives one sample per period counts.
type counter interface {
	// ReadCount returns the count, and for how long it was counted.
	ReadCount() (perf.Count, error)
	UpdatePeriod(period uint64) error
}

// KeepTo keeps the samples of a counting event to a rate per second on each processor, until ctx is
// done. The event gives one sample per period counts. If more samples come than rate allows, KeepTo
// raises the period and calls raised.
func (s *Sampler) KeepTo(ctx context.Context, period uint64, rate float64, raised func(period uint64)) {
	counters := make([]counter, len(s.events))
	for i, e := range s.events {
		counters[i] = e
	}
	keepTo(ctx, counters, period, rate, raised)
}

func keepTo(ctx context.Context, counters []counter, period uint64, rate float64, raised func(period uint64)) {
	const first, most = 10 * time.Millisecond, 500 * time.Millisecond
	last := make([]perf.Count, len(counters))
	for i, e := range counters { // they may have counted before
		last[i], _ = e.ReadCount()
	}
	for wait := first; ; wait = min(2*wait, most) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		worst := 0.0
		for i, e := range counters {
			c, err := e.ReadCount()
			if err != nil {
				continue
			}
			worst = max(worst, samplesPerSecond(last[i], c, period))
			last[i] = c
		}
		const tolerance = 1.1
		if worst <= tolerance*rate {
			continue
		}
		period = uint64(math.Ceil(float64(period) * worst / rate))
		for _, e := range counters {
			// on failure the old period stays, and the next look tries again
			_ = e.UpdatePeriod(period)
		}
		raised(period)
	}
}

// samplesPerSecond returns how many samples an event gave between two readings. Their times are
// those that the kernel read together with the counts: a clock of ours, read before or after, is
// off by as long as this thread lacks a core in between.
func samplesPerSecond(from, to perf.Count, period uint64) float64 {
	if to.Enabled <= from.Enabled {
		return 0
	}
	return float64(to.Value-from.Value) / float64(period) / (to.Enabled - from.Enabled).Seconds()
}
