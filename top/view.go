package top

import (
	"context"
	"runtime"
	"sync"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/collect/target"
	"ompp-attach/live"
	"ompp-attach/profile"
)

// The formats in which updates are shown.
const (
	Screen = "screen"
	Line   = "line"
	JSON   = "json"
)

// Options say what is shown, and how.
type Options struct {
	Format   string
	Title    string
	Interval time.Duration // length of a window
	Count    int           // windows to show; 0: any number
	Rules    analysis.Rules
	Raw      bool // times include the time that probes took
	// Keep writes a snapshot to a file, when the user presses the key for it.
	Keep func() (name string, err error)
	// Tell tells the user a sentence while no screen is shown.
	Tell func(sentence string)
}

// Take takes snapshots of all processes. cost is the processor time of other threads and processes
// that this took, beside that of the calling thread.
type Take func() (all []*profile.Profile, cost time.Duration, err error)

// View shows a measurement. Open returns one.
type View struct {
	options Options
	sink    sink
	tracker live.Tracker
	left    chan struct{}
	leave   func() // closes left
	ended   bool
}

// Open begins to show: on a terminal the screen appears.
func Open(o Options) *View {
	v := &View{options: o, left: make(chan struct{}), tracker: live.Tracker{Rules: o.Rules, Raw: o.Raw}}
	v.leave = sync.OnceFunc(func() { close(v.left) })
	v.sink = v.newSink()
	return v
}

// Left is closed when the user has seen enough: after the key or all windows, or when nobody reads
// the lines any more.
func (v *View) Left() <-chan struct{} { return v.left }

// Say shows a sentence. It never waits for the user.
func (v *View) Say(sentence string) { v.sink.say(sentence) }

// rest bounds the cost of the view. If a snapshot takes some processor time, the next one follows
// no sooner than rest times that time.
const rest = 20

// Follow shows an update at the end of each window, until ctx ends, or until the user leaves. If no
// snapshot can be taken, it returns the error of take.
func (v *View) Follow(ctx context.Context, take Take) error {
	runtime.LockOSThread() // for the thread's own processor time
	defer runtime.UnlockOSThread()
	next := time.Now()
	for n := 0; ; {
		next = next.Add(v.options.Interval)
		if time.Until(next) < 0 {
			next = time.Now()
		}
		select {
		case <-v.left:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(next)):
		}
		began := target.ProcessorTime()
		profiles, cost, err := take()
		if err != nil {
			return err
		}
		if len(profiles) == 0 {
			continue // nothing has begun yet
		}
		n++
		update := v.tracker.Next(time.Now(), profiles, false)
		free := time.Now().Add(rest * (target.ProcessorTime() - began + cost))
		if v.sink.show(update) != nil || n == v.options.Count {
			v.leave()
			return nil
		}
		if free.After(next.Add(v.options.Interval)) {
			next = free.Add(-v.options.Interval)
		}
	}
}

// Final shows the last update, which ends with the final profiles.
func (v *View) Final(profiles []*profile.Profile) {
	_ = v.sink.show(v.tracker.Next(time.Now(), profiles, true))
}

// Close ends the view. The screen disappears, and the sentences that it has shown are told again.
func (v *View) Close() {
	if !v.ended {
		v.ended = true
		v.sink.end()
	}
}
