package collect

import (
	"context"
	"os"
	"sync"
	"syscall"

	"ompp-attach/collect/launch"
)

// Run launches a program and measures it, its children and their children from their first
// instruction, until the program ends. args[0] is the program's name. Signals from the channel are
// passed on to the program.
func (m *Measurement) Run(path string, args []string, signals <-chan os.Signal) (*Result, error) {
	l, err := launch.Prepare(path, args)
	if err != nil {
		return nil, err
	}
	stop := m.Start()
	g, err := m.Follow(l.PID())
	if err != nil {
		l.Abandon()
		_ = stop()
		return nil, err
	}
	if err := l.Start(signals); err != nil {
		_ = stop()
		return nil, err
	}
	// A terminal sends its signals to the whole process group, so the program has got them already.
	// Other signals were sent to us alone.
	e := l.Wait(signals, func(s syscall.Signal) bool {
		return s != syscall.SIGINT && s != syscall.SIGQUIT || !launch.Foreground()
	})
	res := g.End(e)
	err = stop()
	if g.Refusal() != nil {
		return nil, g.Refusal()
	}
	return res, err
}

// Start starts the goroutines that read records and follow processes. stop ends them, continues all
// stopped processes, and returns the first error of the reader.
func (m *Measurement) Start() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var errRead error
	urgent := []func(){func() { errRead = m.reader.read(ctx) }}
	if m.budget != nil {
		urgent = append(urgent, func() { m.keepBudget(ctx) })
	}
	if m.reader.sampling.limit.keep {
		wg.Go(func() { m.reader.keepSampling(ctx) })
	}
	wg.Go(func() { urgently(urgent...) })
	wg.Go(func() { m.lives.follow(ctx) })
	wg.Go(func() { m.lives.keepAlive(ctx) })
	return sync.OnceValue(func() error {
		// Children that outlive the measurement must not wait for the making of its profiles.
		m.follower.StopAll()
		cancel()
		m.follower.Wake()
		wg.Wait()
		m.follower.StopAll() // processes that were stopped meanwhile
		return errRead
	})
}
