package main

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// voice writes what the user is told, in order, while nobody waits for it: who
// reads the rings must go on when a terminal is held (Ctrl-S) or a pager's pipe
// is full. What cannot be written is for nobody any more.
type voice struct {
	to   io.Writer
	mu   sync.Mutex
	text []byte        // not yet written
	said chan struct{} // closed when all is; nil: there is nothing to say
}

// spoken is what the tool says on its standard error; fail waits for its end.
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

// finish waits until all is said.
func (v *voice) finish() {
	v.mu.Lock()
	said := v.said
	v.mu.Unlock()
	if said != nil {
		<-said
	}
}

// outliveReader lets the tool go on when whoever reads what it says has ended
// (`2>&1 | head`): what was measured must not go with them. Signals that are
// caught, unlike those that are ignored, are the program's own again at exec.
func outliveReader() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
