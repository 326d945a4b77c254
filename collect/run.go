package collect

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
	"ompp-attach/collect/urgent"
)

// Run launches a program and measures it, its children and their children from their first
// instruction, until the program ends. args[0] is the program's name. Signals from the channel are
// passed on to the program.
func (m *Measurement) Run(path string, args []string, signals <-chan os.Signal) (*Result, error) {
	r, err := m.Launch(path, args, launch.OwnStreams(), signals)
	if err != nil {
		return nil, err
	}
	<-r.Ended()
	return r.End()
}

// Running is a launched program that is measured.
type Running struct {
	program *Program
	stop    func() error
	ended   chan struct{}
	ending  launch.Ending // set when ended is closed
}

// Launch launches a program as Run does, and returns when the program runs.
func (m *Measurement) Launch(path string, args []string, s launch.Streams, signals <-chan os.Signal) (*Running, error) {
	l, err := launch.Prepare(path, args, s)
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
	g.alone = true
	r := &Running{program: g, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		// A terminal sends its signals to the whole process group, so the program has got them
		// already. Other signals were sent to us alone.
		r.ending = l.Wait(signals, func(s syscall.Signal) bool {
			return s != syscall.SIGINT && s != syscall.SIGQUIT || !launch.Foreground()
		})
	}()
	return r, nil
}

// Ended is closed when the program has ended.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// Status waits for the program's end, and returns its exit status; 128+N if signal N killed it.
func (r *Running) Status() int {
	<-r.ended
	return r.ending.Status
}

// End ends the measurement. If the program has not ended, it goes on without probes, as do all
// processes that it has started or will start. It must be called once.
func (r *Running) End() (*Result, error) {
	e := launch.Ending{How: detached}
	select {
	case <-r.ended:
		e = r.ending
	default:
		if target.Ended(r.program.pid) {
			select {
			case <-r.ended: // the program was a zombie
				e = r.ending
			case <-time.After(time.Second): // its first thread has ended, and others run
			}
		}
	}
	res := r.program.End(e)
	err := r.stop()
	if refusal := r.program.Refusal(); refusal != nil {
		return nil, refusal
	}
	return res, err
}

// Start starts the goroutines that read records and follow processes. stop ends them, continues all
// stopped processes, and returns the first error of the reader.
func (m *Measurement) Start() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var errRead error
	loops := []func(){func() { errRead = m.reader.read(ctx) }}
	if m.budget != nil {
		loops = append(loops, func() { m.keepBudget(ctx) })
	}
	if m.reader.sampling.Unbounded() {
		wg.Go(func() { m.reader.keepSampling(ctx) })
	}
	wg.Go(func() { urgent.Do(loops...) })
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
