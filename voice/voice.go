// Package voice writes messages to the user without making the measurement wait.
package voice

import (
	"io"
	"sync"
)

// Voice writes messages to the user, in order, from a goroutine of its own. So no caller waits. The
// reader of the rings must go on when a terminal is held (Ctrl-S) or the pipe to a pager is full.
// Text that cannot be written is dropped, since then nobody reads it any more.
type Voice struct {
	To   io.Writer
	mu   sync.Mutex
	text []byte        // not written yet
	said chan struct{} // closed when all text is written; nil: there is none to write
}

// Write implements io.Writer.
func (v *Voice) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text = append(v.text, b...)
	if v.said == nil {
		v.said = make(chan struct{})
		go v.speak()
	}
	return len(b), nil
}

func (v *Voice) speak() {
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
		_, _ = v.To.Write(text)
	}
}

// Finish waits until all text is written.
func (v *Voice) Finish() {
	v.mu.Lock()
	said := v.said
	v.mu.Unlock()
	if said != nil {
		<-said
	}
}
