package main

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// voice writes messages to the user, in order, from a goroutine of its own. So no caller waits: the
// reader of the rings must go on when a terminal is held (Ctrl-S) or the pipe to a pager is full.
// Text that cannot be written is dropped, since then nobody reads it any more.
type voice struct {
	to   io.Writer
	mu   sync.Mutex
	text []byte        // not written yet
	said chan struct{} // closed when all text is written; nil: there is none to write
}

// spoken writes to the tool's standard error. fail waits until all text is written.
var spoken = &voice{to: os.Stderr}

// Write implements io.Writer.
func (v *voice) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text = append(v.text, b...)
	if v.said == nil {
		v.said = make(chan struct{})
		go v.speak()
	}
	return len(b), nil
}

func (v *voice) speak() {
	for {
		v.mu.Lock()
		text := v.text
		v.text = nil
		if len(text) == 0 {
			close(v.said)
			v.said = nil
			v.mu.Unlock()
			return
		}
		v.mu.Unlock()
		_, _ = v.to.Write(text)
	}
}

// finish waits until all text is written.
func (v *voice) finish() {
	v.mu.Lock()
	said := v.said
	v.mu.Unlock()
	if said != nil {
		<-said
	}
}

// outliveReader lets the tool go on when the reader of its output has ended (`2>&1 | head`), so
// that the results are not lost. It catches SIGPIPE instead of ignoring it: exec resets caught
// signals to their default, so the program gets SIGPIPE as usual.
func outliveReader() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
