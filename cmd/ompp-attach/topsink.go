package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"ompp-attach/live"
	"ompp-attach/live/screen"
)

// sink shows the frames of top.
type sink interface {
	show(*live.Frame) error // an error: nobody looks any more
	say(sentence string)
	end() // nothing is shown any more; may be called again
}

// sink returns what shows frames in the wanted format.
func (t *top) sink(title string) (sink, error) {
	switch t.f.format {
	case topScreen:
		return t.newScreen(title)
	case topJSON:
		return &lines{t, func(f *live.Frame) error { return live.WriteJSON(os.Stdout, f) }}, nil
	}
	return &lines{t, func(f *live.Frame) error { return live.WriteLine(os.Stdout, f) }}, nil
}

// lines writes a line per frame.
type lines struct {
	t     *top
	write func(*live.Frame) error
}

func (l *lines) show(f *live.Frame) error { return l.write(f) }
func (l *lines) say(sentence string)      { tell(sentence) }
func (l *lines) end()                     { l.t.tellWhoGoesOn() }

// tellWhoGoesOn tells of a launched program that nobody looks at any more.
func (t *top) tellWhoGoesOn() {
	select {
	case <-t.over:
	default:
		if t.goesOn != "" {
			tell(t.goesOn)
		}
	}
}

// onTerminal tells whether a screen can be shown, and keys can be read.
func onTerminal() bool {
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err != nil {
			return false
		}
	}
	return os.Getenv("TERM") != "dumb"
}

// screenSink shows frames on a terminal.
type screenSink struct {
	program *tea.Program
	done    chan struct{} // closed when the screen is gone
	mu      sync.Mutex
	said    []string // is told again when the screen is gone
}

// terminal is the terminal, also when a launched program gets other files as standard streams.
var terminal = struct{ in, out *os.File }{os.Stdin, os.Stdout}

func (t *top) newScreen(title string) (sink, error) {
	s := &screenSink{done: make(chan struct{})}
	model := screen.New(title, screen.Actions{Write: t.write})
	s.program = tea.NewProgram(model, tea.WithoutSignalHandler(), tea.WithInput(terminal.in), tea.WithOutput(terminal.out))
	go func() {
		defer close(s.done)
		_, _ = s.program.Run() // whatever happened to the screen, the measurement ends in order
		t.tellWhoGoesOn()
		t.leave()
	}()
	return s, nil
}

func (s *screenSink) show(f *live.Frame) error {
	s.program.Send(screen.Frame{Frame: f})
	return nil
}

// say shows a sentence. The caller, who may be the reader of the rings, does not wait.
func (s *screenSink) say(sentence string) {
	s.mu.Lock()
	s.said = append(s.said, sentence)
	s.mu.Unlock()
	go s.program.Send(screen.Said(pasteable(sentence)))
}

func (s *screenSink) end() {
	s.program.Quit()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sentence := range s.said {
		tell(sentence)
	}
	s.said = nil
}

// keepOutput gives a launched program other standard streams than the terminal that the screen
// needs: no input, and a file for its output, which restore copies to the terminal.
func keepOutput() (restore func(), err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	kept, err := os.CreateTemp("", "ompp-attach-output-")
	if err != nil {
		null.Close()
		return nil, fmt.Errorf("cannot keep the program's output: %w", err)
	}
	_ = os.Remove(kept.Name())
	in, out, errs := os.Stdin, os.Stdout, os.Stderr
	os.Stdin, os.Stdout, os.Stderr = null, kept, kept
	return func() {
		os.Stdin, os.Stdout, os.Stderr = in, out, errs
		_, _ = kept.Seek(0, io.SeekStart)
		_, _ = io.Copy(out, kept)
		kept.Close()
		null.Close()
	}, nil
}
