package top

import (
	"os"
	"sync"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"ompp-attach/live"
	"ompp-attach/live/screen"
	"ompp-attach/profile"
)

// sink shows updates.
type sink interface {
	show(*live.Update) error // an error: nobody reads the updates any more
	say(sentence string)
	end()
}

func (v *View) newSink() sink {
	switch v.options.Format {
	case Screen:
		return v.newScreen()
	case JSON:
		return &lines{v.options.Tell, func(f *live.Update) error { return live.WriteJSON(os.Stdout, f) }}
	}
	return &lines{v.options.Tell, func(f *live.Update) error { return live.WriteLine(os.Stdout, f) }}
}

// lines writes a line per update.
type lines struct {
	tell  func(sentence string)
	write func(*live.Update) error
}

func (l *lines) show(f *live.Update) error { return l.write(f) }
func (l *lines) say(sentence string)       { l.tell(sentence) }
func (l *lines) end()                      {}

// OnTerminal tells whether a screen can be shown, and keys can be read.
func OnTerminal() bool {
	return isTerminal(os.Stdin) && isTerminal(os.Stdout) && os.Getenv("TERM") != "dumb"
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// screenSink shows updates on a terminal.
type screenSink struct {
	program *tea.Program
	tell    func(sentence string)
	done    chan struct{} // closed when the screen is gone
	mu      sync.Mutex
	said    []string // is told again when the screen is gone
}

func (v *View) newScreen() sink {
	s := &screenSink{done: make(chan struct{}), tell: v.options.Tell}
	model := screen.New(v.options.Title, screen.Actions{Write: v.options.Keep})
	s.program = tea.NewProgram(model, tea.WithoutSignalHandler())
	go func() {
		defer close(s.done)
		_, _ = s.program.Run() // whatever happened to the screen, the measurement ends in order
		v.leave()
	}()
	return s
}

func (s *screenSink) show(f *live.Update) error {
	s.program.Send(screen.Next{Update: f})
	return nil
}

// say shows a sentence. It does not wait, because the caller may be the reader of the rings.
func (s *screenSink) say(sentence string) {
	s.mu.Lock()
	s.said = append(s.said, sentence)
	s.mu.Unlock()
	go s.program.Send(screen.Said(profile.Pasteable(sentence)))
}

func (s *screenSink) end() {
	s.program.Quit()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sentence := range s.said {
		s.tell(sentence)
	}
	s.said = nil
}
