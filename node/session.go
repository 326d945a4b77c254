package node

import (
	"encoding/json"
	"fmt"

	"ompp-attach/collect/launch"
)

// Session is the conversation of one tool with the collector.
type Session struct {
	Close func()
	Dir   string // of the results; set before over is closed
	to    *json.Encoder
	over  chan *Over // closed when the connection ends
}

// HandOver asks the node's collector to measure a program that is about to start. A collector that
// is just ending may not answer; then HandOver starts another one.
func (m *Meeting) HandOver(req *Request, say func(string)) (*Session, error) {
	const tries = 5
	for range tries {
		conn, err := m.connect()
		if err != nil {
			return nil, fmt.Errorf("the collector of this node cannot be started: %w", err)
		}
		s := &Session{Close: func() { conn.Close() }, to: json.NewEncoder(conn), over: make(chan *Over, 1)}
		followed := make(chan bool, 1)
		go s.listen(json.NewDecoder(conn), followed, say)
		if err := s.to.Encode(req); err == nil && <-followed {
			return s, nil
		}
		o, ok := <-s.over
		s.Close()
		if ok {
			return nil, o
		}
	}
	return nil, fmt.Errorf("the collector of this node ended before it could measure anything%s", m.lastWords())
}

// listen reads the collector's replies until the connection ends.
func (s *Session) listen(from *json.Decoder, followed chan<- bool, say func(string)) {
	defer close(s.over)
	defer close(followed)
	for {
		var r reply
		if from.Decode(&r) != nil {
			return
		}
		switch {
		case r.Say != "":
			say(r.Say)
		case r.Followed:
			s.Dir = r.Dir
			followed <- true
		case r.Over != nil:
			s.over <- r.Over
			return
		}
	}
}

// Conclude tells the collector how the program ended, and waits until the rank's files are written.
// It returns nil if the collector was killed.
func (s *Session) Conclude(e launch.Ending) *Over {
	defer s.Close()
	_ = s.to.Encode(&e)
	return <-s.over
}

// Leave tells the collector how the program ended, and waits for nothing.
func (s *Session) Leave(e launch.Ending) {
	_ = s.to.Encode(&e)
	s.Close()
}
