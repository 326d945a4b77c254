package collect

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ompp-attach/collect/control"
	"ompp-attach/timeline"
	"ompp-attach/timeline/trigger"
)

// mostTriggered bounds the snapshots of a process that executions trigger.
const mostTriggered = 10

// triggerLag is the time between an execution that fulfils a condition and its snapshot, so that what
// follows is in the snapshot, too. triggerRest is the least time between two snapshots.
const (
	triggerLag  = 100 * time.Millisecond
	triggerRest = time.Second
)

// triggers are the conditions of a process whose executions trigger snapshots.
type triggers struct {
	watch *trigger.Watch
	began uint64 // the measurement's begin (engine's clock, ns)
	dump  func() (name string, err error)
	say   func(sentence string)

	mu     sync.Mutex
	busy   bool // a snapshot is being written, or was a moment ago
	files  []string
	failed string // why a snapshot could not be written; empty: each could
}

// watchFor returns the sink that looks for executions which fulfil the user's conditions. It is the
// recorder if there are none.
func (c *common) watchFor(p *Process, rec *timeline.Recorder) timeline.Sink {
	if len(c.timelines.When) == 0 || c.timelines.dump == nil {
		return rec
	}
	t := &triggers{began: p.engine.Clock(p.began), say: c.say, dump: func() (string, error) { return c.timelines.dump(int(p.pid)) }}
	t.watch = trigger.NewWatch(rec, c.timelines.When, t.fulfilled)
	p.triggers = t
	return t.watch
}

// fulfilled has a snapshot written, unless one was a moment ago. It does not wait.
func (t *triggers) fulfilled(f *trigger.Found) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy || len(t.files) >= mostTriggered || t.failed != "" {
		return
	}
	t.busy = true
	go t.write(f.Text)
}

func (t *triggers) write(condition string) {
	time.Sleep(triggerLag)
	name, err := t.dump()
	t.mu.Lock()
	switch {
	case errors.Is(err, control.ErrNotMeasured): // the process has ended, and its timeline holds the execution
	case err != nil:
		t.failed = err.Error()
	case name != "":
		t.files = append(t.files, filepath.Base(name))
	}
	t.mu.Unlock()
	if t.say != nil && err == nil && name != "" {
		t.say(fmt.Sprintf("--when %s: snapshot: %s", condition, name))
	}
	time.Sleep(triggerRest)
	t.mu.Lock()
	t.busy = false
	t.mu.Unlock()
}

// sentences say which conditions were fulfilled, and which snapshots show that.
func (t *triggers) sentences() (out []string) {
	if t == nil {
		return nil
	}
	for _, f := range t.watch.Found() {
		text := fmt.Sprintf("--when '%s' was not fulfilled by any execution.", f.Text)
		if f.Executions > 0 {
			ended := float64(f.First.To-min(f.First.To, t.began)) / 1e9
			text = fmt.Sprintf("--when '%s' was fulfilled by %d executions, first by one that ended %.6f s after measurement began, in thread %d.", f.Text, f.Executions, ended, f.First.TID)
		}
		out = append(out, text)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.files) > 0 {
		text := "Snapshots with what happened then: " + strings.Join(t.files, ", ") + "."
		if len(t.files) == mostTriggered {
			text += " No more were written."
		}
		out = append(out, text)
	}
	if t.failed != "" {
		out = append(out, "A snapshot that --when asked for could not be written: "+t.failed+".")
	}
	return out
}
