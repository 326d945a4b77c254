// Package stream holds recorded runs: the events of a process, and what was asked about its files.
package stream

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/place"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Stream is a recorded run: the events of one process and the resolver's answers. The profile can
// be built from it again without the process, without its files and without privileges.
type Stream struct {
	PID      uint32            `json:"pid"`
	Existing []int             `json:"existing,omitempty"` // threads older than the measurement
	Began    uint64            `json:"began"`
	End      uint64            `json:"end"`
	Stops    []event.Stop      `json:"stops,omitempty"`
	Switches []estimate.Switch `json:"watches,omitempty"`
	Events   []event.Event     `json:"events"`

	// OffCoreTold: events tell when threads were off their cores.
	OffCoreTold bool `json:"watched,omitempty"`

	// Each thread's time without a core before the measurement, ns.
	NoCoreBefore map[uint32]int64 `json:"core_waits,omitempty"`

	Costs event.HitCosts `json:"costs,omitzero"` // cost of hits of the probes that wrote the events

	StackLo uint64 `json:"stack_lo,omitempty"` // bounds of the process's first stack
	StackHi uint64 `json:"stack_hi,omitempty"` //

	Teams    map[uint64]event.Construct   `json:"teams,omitempty"`
	Shares   map[uint64]event.Construct   `json:"shares,omitempty"`
	Barriers map[uint64]place.BarrierKind `json:"barriers,omitempty"`
	Singles  map[uint64]place.BarrierKind `json:"singles,omitempty"`
	Aparts   []place.Following            `json:"aparts,omitempty"` // of which this is true
	Loops    map[uint64]place.InlineLoop  `json:"loops,omitempty"`
	Places   []Placed                     `json:"places,omitempty"`
	Arounds  map[uint64]profile.Region    `json:"arounds,omitempty"`
	Codes    map[uint64][]profile.Frame   `json:"codes,omitempty"` // by address, of samples
}

// Placed is the resolver's answer to one Region question.
type Placed struct {
	Key    place.Key      `json:"key"`
	Region profile.Region `json:"region"`
}

// Team implements place.Resolver.
func (s *Stream) Team(site uint64) event.Construct { return s.Teams[site] }

// Workshare implements place.Resolver.
func (s *Stream) Workshare(loc uint64) event.Construct { return s.Shares[loc] }

// Barrier implements place.Resolver.
func (s *Stream) Barrier(loc uint64) place.BarrierKind { return s.Barriers[loc] }

// Apart implements place.Resolver.
func (s *Stream) Apart(f place.Following) bool { return slices.Contains(s.Aparts, f) }

// SingleBarrier implements place.Resolver.
func (s *Stream) SingleBarrier(site, _ uint64) place.BarrierKind { return s.Singles[site] }

// LoopAfter implements place.Resolver.
func (s *Stream) LoopAfter(addr uint64) place.InlineLoop { return s.Loops[addr] }

// Seen implements place.Resolver.
func (s *Stream) Seen(place.Key) {}

// Region implements place.Resolver. A construct that was not recorded is placed at its address.
func (s *Stream) Region(k place.Key) profile.Region {
	for i := range s.Places {
		p := &s.Places[i]
		if k.Construct == event.MPI { // the number of an operation may differ between versions
			if p.Key.Construct == event.MPI && p.Key.Site == k.Site && p.Region.Name == mpi.Op(k.Fn).String() {
				return p.Region
			}
			continue
		}
		if p.Key == k {
			return p.Region
		}
	}
	if k.Construct == event.MPI {
		return profile.Region{Construct: event.MPI, Name: mpi.Op(k.Fn).String(), Location: profile.Location{Offset: k.Site}}
	}
	return profile.Region{Construct: k.Construct, Location: profile.Location{Offset: k.Fn | k.Site}}
}

// Around implements place.Resolver.
func (s *Stream) Around(addr uint64) (profile.Region, bool) {
	r, ok := s.Arounds[addr]
	return r, ok
}

// Code implements place.Resolver.
func (s *Stream) Code(addr uint64) []profile.Frame { return s.Codes[addr] }

// Recorder is a place.Resolver that also notes the answers of another one in a Stream.
type Recorder struct {
	place.Resolver
	Stream *Stream
}

// NewRecorder returns a recorder for the process pid that asks r.
func NewRecorder(pid uint32, r place.Resolver) *Recorder {
	return &Recorder{r, &Stream{PID: pid,
		Teams: map[uint64]event.Construct{}, Shares: map[uint64]event.Construct{},
		Barriers: map[uint64]place.BarrierKind{}, Singles: map[uint64]place.BarrierKind{}, Loops: map[uint64]place.InlineLoop{}, Arounds: map[uint64]profile.Region{}, Codes: map[uint64][]profile.Frame{}}}
}

// Team implements place.Resolver.
func (r *Recorder) Team(site uint64) event.Construct {
	return note(r.Stream.Teams, site, r.Resolver.Team(site))
}

// Workshare implements place.Resolver.
func (r *Recorder) Workshare(loc uint64) event.Construct {
	return note(r.Stream.Shares, loc, r.Resolver.Workshare(loc))
}

// Barrier implements place.Resolver.
func (r *Recorder) Barrier(loc uint64) place.BarrierKind {
	return note(r.Stream.Barriers, loc, r.Resolver.Barrier(loc))
}

// Apart implements place.Resolver. Most barriers belong to what they follow: only others are noted.
func (r *Recorder) Apart(f place.Following) bool {
	apart := r.Resolver.Apart(f)
	if apart && !slices.Contains(r.Stream.Aparts, f) {
		r.Stream.Aparts = append(r.Stream.Aparts, f)
	}
	return apart
}

// SingleBarrier implements place.Resolver.
func (r *Recorder) SingleBarrier(site, fn uint64) place.BarrierKind {
	return note(r.Stream.Singles, site, r.Resolver.SingleBarrier(site, fn))
}

// LoopAfter implements place.Resolver. Most addresses have none: only what there is gets noted.
func (r *Recorder) LoopAfter(addr uint64) place.InlineLoop {
	l := r.Resolver.LoopAfter(addr)
	if l.Site != 0 {
		r.Stream.Loops[addr] = l
	}
	return l
}

// Region implements place.Resolver.
func (r *Recorder) Region(k place.Key) profile.Region {
	reg := r.Resolver.Region(k)
	r.Stream.Places = append(r.Stream.Places, Placed{k, reg})
	return reg
}

// Around implements place.Resolver.
func (r *Recorder) Around(addr uint64) (profile.Region, bool) {
	reg, ok := r.Resolver.Around(addr)
	if ok {
		r.Stream.Arounds[addr] = reg
	}
	return reg, ok
}

// Code implements place.Resolver.
func (r *Recorder) Code(addr uint64) []profile.Frame {
	return note(r.Stream.Codes, addr, r.Resolver.Code(addr))
}

func note[V any](m map[uint64]V, at uint64, v V) V {
	m[at] = v
	return v
}

// Encode writes a stream as gzip-compressed JSON. Errors are those of w.
func Encode(w io.Writer, s *Stream) error {
	z := gzip.NewWriter(w)
	if err := json.NewEncoder(z).Encode(s); err != nil {
		return fmt.Errorf("write event stream: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write event stream: %w", err)
	}
	return nil
}

// Decode reads a stream that Encode wrote. Its error says that r holds no such stream,
// or is one of r's own.
func Decode(r io.Reader) (*Stream, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("read event stream: %w", err)
	}
	var s Stream
	if err := json.NewDecoder(z).Decode(&s); err != nil {
		return nil, fmt.Errorf("read event stream: %w", err)
	}
	s.nameReductions()
	return &s, nil
}

// nameReductions gives the barriers of libomp's reductions their construct. Older streams have none
// for them.
func (s *Stream) nameReductions() {
	for i := range s.Events {
		if ev := &s.Events[i]; ev.Construct == event.NoConstruct {
			ev.Construct = event.ReductionBarrier
		}
	}
	for i := range s.Switches {
		if sw := &s.Switches[i]; sw.Of.Has(event.NoConstruct) {
			sw.Of = sw.Of&^event.SetOf(event.NoConstruct) | event.SetOf(event.ReductionBarrier)
		}
	}
}
