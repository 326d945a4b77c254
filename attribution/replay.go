package attribution

import (
	"ompp-attach/attribution/stream"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// Replay feeds a recorded stream to a new engine and returns the profile.
func Replay(s *stream.Stream) *profile.Profile { return finished(s, begin(s)) }

// ReplayTo is Replay, and tells the stream's single executions to a sink.
func ReplayTo(s *stream.Stream, sink timeline.Sink) *profile.Profile {
	e := begin(s)
	e.Timeline(sink)
	return finished(s, e)
}

// finished feeds a stream to an engine and returns the profile.
func finished(s *stream.Stream, e *Engine) *profile.Profile {
	for i := range s.Events {
		e.Feed(&s.Events[i])
	}
	return e.Finish(s.End)
}

// begin returns an engine that has been told all that was known before the first event.
func begin(s *stream.Stream) *Engine {
	e := New(s.PID, s)
	if len(s.Existing) > 0 {
		e.Existing(s.Existing, s.Began)
	}
	e.MainStack(s.StackLo, s.StackHi)
	e.Costs(s.Costs)
	e.NoCoreBefore(s.NoCoreBefore)
	if s.OffCoreTold {
		e.TellsOffCore()
	}
	e.Began(s.Began)
	for _, stop := range s.Stops {
		e.Stopped(stop)
	}
	if len(s.Switches) > 0 {
		e.Budgeted()
	}
	for _, w := range s.Switches {
		e.Observe(w)
	}
	return e
}
