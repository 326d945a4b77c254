// Package triggered has snapshots of a process written when an execution fulfils one of the
// conditions of --when. The number of snapshots is bounded, and there is a rest after each of them.
package triggered

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

// most bounds the snapshots of a process that executions trigger.
const most = 10

// lag is the time between an execution that fulfils a condition and its snapshot, so that what
// follows is in the snapshot, too. rest is the least time between two snapshots.
const (
	lag  = 100 * time.Millisecond
	rest = time.Second
)

// Snapshots are the snapshots of one process that conditions ask for. A nil pointer stands for no
// conditions.
type Snapshots struct {
	sink  *trigger.Sink
	began uint64 // the measurement's begin (engine's clock, ns)
	dump  func() (name string, err error)
	say   func(sentence string)

	mu     sync.Mutex
	busy   bool // a snapshot is being written, or was a moment ago
	files  []string
	failed string // why a snapshot could not be written; empty: each could
}

// New returns the snapshots of a process. began is when the measurement of the process began
// (engine's clock, ns). dump writes a snapshot, and returns the file's name. say tells the user of
// it; nil: nobody listens.
func New(rec *timeline.Recorder, when []*trigger.Condition, began uint64, dump func() (string, error), say func(string)) *Snapshots {
	s := &Snapshots{began: began, dump: dump, say: say}
	s.sink = trigger.NewSink(rec, when, s.fulfilled)
	return s
}

// Sink returns the sink that looks for executions which fulfil a condition, and records.
func (s *Snapshots) Sink() timeline.Sink { return s.sink }

// fulfilled has a snapshot written, unless one was a moment ago. It does not wait.
func (s *Snapshots) fulfilled(f *trigger.Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy || len(s.files) >= most || s.failed != "" {
		return
	}
	s.busy = true
	go s.write(f.Text)
}

func (s *Snapshots) write(condition string) {
	time.Sleep(lag)
	name, err := s.dump()
	s.mu.Lock()
	switch {
	case errors.Is(err, control.ErrNotMeasured):
		// The process has ended, and its timeline holds the execution.
	case err != nil:
		s.failed = err.Error()
	case name != "":
		s.files = append(s.files, filepath.Base(name))
	}
	s.mu.Unlock()
	if s.say != nil && err == nil && name != "" {
		s.say(fmt.Sprintf("--when %s: snapshot: %s", condition, name))
	}
	time.Sleep(rest)
	s.mu.Lock()
	s.busy = false
	s.mu.Unlock()
}

// Sentences say which conditions were fulfilled, and which snapshots show that.
func (s *Snapshots) Sentences() (out []string) {
	if s == nil {
		return nil
	}
	for _, f := range s.sink.Found() {
		text := fmt.Sprintf("--when '%s' was not fulfilled by any execution.", f.Text)
		if f.Executions > 0 {
			ended := float64(f.First.To-min(f.First.To, s.began)) / 1e9
			text = fmt.Sprintf("--when '%s' was fulfilled by %d executions, first by one that ended %.6f s after measurement began, in thread %d.", f.Text, f.Executions, ended, f.First.TID)
		}
		out = append(out, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.files) > 0 {
		text := "Snapshots with what happened then: " + strings.Join(s.files, ", ") + "."
		if len(s.files) == most {
			text += " No more were written."
		}
		out = append(out, text)
	}
	if s.failed != "" {
		out = append(out, "A snapshot that --when asked for could not be written: "+s.failed+".")
	}
	return out
}
