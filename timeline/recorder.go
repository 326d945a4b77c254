package timeline

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"
)

// Options say what a recorder needs to know.
type Options struct {
	Plan  Plan
	PID   int
	Tool  string // the tool's version
	Began uint64 // the measurement's beginning: the plan's times count from it (engine's clock, ns)
	// Counting says what the spans' counters are; nil: they are not recorded.
	Counting *Counting
	// Open makes the file of a plan that streams.
	Open func() (io.WriteCloser, error)
	// Say tells the user a sentence at once; nil: nobody listens.
	Say func(sentence string)
	// Polite lowers the priority of the calling thread, which compresses; nil: it keeps its own.
	Polite func()
	// Wait lets the engine wait for the packer, instead of dropping spans, for events that were
	// read from a file.
	Wait bool
}

// Recorder is a Sink that keeps spans as its plan says. The engine's goroutine calls it.
type Recorder struct {
	options  Options
	from, to uint64 // the window
	lanes    map[laneID]*lane
	recent   [64]*lane // cache of lanes, by the last digits of the thread
	open     int       // bytes in lanes, and for them
	mostOpen int
	now      uint64 // the latest end of a span, ns
	closed   uint64 // the time at which all lanes were last closed, ns
	outside  [2]Gap // before and behind the window
	names    names

	unobserved unobserved
	told       int // number of names.Defined that the packer has been given
	toldSeats  int
	packer     *packer
	longest    *longest // nil: the plan does not ask for the longest executions
	spans      uint64   // number of spans; counted only with longest
	first      uint64   // their earliest start, ns
	untold     int      // bytes in chunks that were closed since the packer was given the claims
	chunks     uint64   // the number of the last chunk that was begun
	often      uint64   // how long spans may stay in lanes (ns)
	ended      sync.Once
	last       *Dictionary
	before     <-chan shelf // of a branch: the shelf of its origin; nil: this is no branch
}

// How long spans may stay in lanes (ns). If a plan streams, a killed tool loses these spans. If a
// plan keeps the longest executions, each chunk should cover a short time.
const (
	oftenStreams = uint64(2 * time.Second)
	oftenLongest = uint64(100 * time.Millisecond)
)

// laneID names a lane: a thread's spans in the order of their ends, or its parts in teams, which
// come later.
type laneID struct {
	tid  uint32
	team bool
}

// laneCost is the memory that a lane takes beside its spans: itself, its place in the map, and what
// its slice has in reserve (bytes).
const laneCost = 512

// lane collects the spans of one thread.
type lane struct {
	id laneID
	extent
	state
	chunk uint64 // number of the chunk that is being made
	data  []byte
}

// NewRecorder returns a recorder, and starts the goroutine that compresses. The error says why the
// file of a plan that streams cannot be written.
func NewRecorder(o Options) (*Recorder, error) {
	r := &Recorder{options: o, lanes: map[laneID]*lane{}, to: math.MaxUint64,
		mostOpen: int(max(o.Plan.memory()/8, 2*chunkSize))}
	r.from = o.Began + uint64(o.Plan.From)
	if o.Plan.To > 0 {
		r.to = o.Began + uint64(o.Plan.To)
	}
	r.often = oftenStreams
	if o.Plan.Longest > 0 {
		r.longest, r.often = newLongest(o.Plan.Longest, o.Plan.Cap/8, o.Counting != nil), oftenLongest
	}
	if o.Plan.From == 0 { // an event may be older than the time that began the measurement
		r.from = 0
	}
	var err error
	r.packer, err = newPacker(&r.options)
	return r, err
}

// Define implements Sink.
func (r *Recorder) Define(d Definition) {
	r.names.Defined = append(r.names.Defined, d)
	if r.longest != nil {
		r.longest.define(&d)
	}
}

// Seat implements Sink.
func (r *Recorder) Seat(seat Seat) { r.names.Seats = append(r.names.Seats, seat) }

// Span implements Sink.
func (r *Recorder) Span(s *Span) {
	if s.To < r.from || s.From > r.to {
		r.leaveOut(s)
		return
	}
	l := r.recent[s.TID%uint32(len(r.recent))]
	if id := (laneID{s.TID, s.Team != 0}); l == nil || l.id != id {
		l = r.lane(id)
	}
	if r.options.Counting == nil {
		s.Counts = nil
	}
	was := len(l.data)
	l.data = l.put(l.data, s)
	l.add(s)
	r.open += len(l.data) - was
	r.now = max(r.now, s.To)
	if r.longest != nil {
		r.longest.note(s, l.chunk)
		if r.spans++; r.spans == 1 || s.From < r.first {
			r.first = s.From
		}
	}
	if len(l.data) >= chunkSize-largestSpan || r.open > r.mostOpen || r.now > r.closed+r.often {
		r.close(l)
	}
}

func (r *Recorder) lane(id laneID) *lane {
	l := r.lanes[id]
	if l == nil {
		r.chunks++
		l = &lane{id: id, extent: extent{tid: id.tid}, chunk: r.chunks}
		r.lanes[id] = l
		r.open += laneCost
	}
	r.recent[id.tid%uint32(len(r.recent))] = l
	return l
}

// close closes a lane that is full, or all lanes if they hold too many bytes, or for too long.
func (r *Recorder) close(l *lane) {
	late := (r.options.Plan.Stream || r.longest != nil) && r.now > r.closed+r.often
	if r.now > r.closed+r.often {
		r.closed = r.now
	}
	switch {
	case r.open > r.mostOpen:
		r.closeAll(false)
		// Lanes of threads that have ended are freed too:
		// a program may start any number of threads.
		clear(r.lanes)
		clear(r.recent[:])
		r.open = 0
	case late:
		r.closeAll(false)
	case len(l.data) >= chunkSize-largestSpan:
		r.seal(l)
	}
}

// closeAll gives the spans of all lanes to the packer, the oldest ones first: the shelf drops from
// the front. The packer's queue has few places, and a program may have any number of threads with
// few spans each. So the chunks of many lanes take one place, which holds no more bytes than one of
// a full lane. If wait is set, none are dropped.
func (r *Recorder) closeAll(wait bool) {
	var batch []chunk
	bytes := 0
	for _, l := range r.byAge() {
		c := r.cut(l)
		if bytes += cap(c.data) + chunkCost; bytes > chunkSize && batch != nil {
			r.packer.put(work{chunks: batch, now: r.now, wait: wait})
			batch, bytes = nil, cap(c.data)+chunkCost
		}
		batch = append(batch, c)
	}
	if batch != nil {
		r.packer.put(work{chunks: batch, now: r.now, wait: wait})
	}
	clear(r.recent[:])
}

// byAge returns the lanes that have spans, in the order of their last ends. Lanes without a span
// since all lanes were last closed are freed: their threads may have ended.
func (r *Recorder) byAge() []*lane {
	lanes := make([]*lane, 0, len(r.lanes))
	for id, l := range r.lanes {
		if l.spans == 0 {
			delete(r.lanes, id)
			r.open -= laneCost
			continue
		}
		lanes = append(lanes, l)
	}
	slices.SortFunc(lanes, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.id.tid, b.id.tid))
	})
	return lanes
}

// seal gives a lane's spans to the packer.
func (r *Recorder) seal(l *lane) { r.packer.put(work{chunks: []chunk{r.cut(l)}, now: r.now}) }

// cut ends a lane's chunk, and begins the next one. The packer has been told the chunk's names.
func (r *Recorder) cut(l *lane) chunk {
	r.tellNames()
	l.raw = len(l.data)
	r.open -= len(l.data)
	r.tellLongest(l.raw)
	c := chunk{l.extent, l.chunk, l.data}
	r.chunks++
	l.extent, l.state, l.chunk, l.data = extent{tid: l.tid}, state{}, r.chunks, nil
	if len(c.data) >= pooled {
		l.data = r.packer.buffer(len(c.data))
	}
	return c
}

// tellLongest gives the packer the claims of the longest executions now and then. bytes is the size
// of the chunk that follows.
func (r *Recorder) tellLongest(bytes int) {
	if r.longest == nil {
		return
	}
	if r.untold += bytes; int64(r.untold) > r.options.Plan.Cap/16 && r.packer.offer(work{claims: r.longest.claims()}) {
		r.untold = 0
	}
}

// tellNames gives the packer the names that chunks may use from now on.
func (r *Recorder) tellNames() {
	if r.told == len(r.names.Defined) && r.toldSeats == len(r.names.Seats) {
		return
	}
	r.packer.put(work{names: &names{slices.Clone(r.names.Defined[r.told:]), slices.Clone(r.names.Seats[r.toldSeats:])}})
	r.told, r.toldSeats = len(r.names.Defined), len(r.names.Seats)
}

func (r *Recorder) leaveOut(s *Span) {
	g := &r.outside[0]
	if s.From > r.to {
		g = &r.outside[1]
	}
	g.include(Gap{From: s.From, To: s.To, Why: Outside, Spans: 1})
}

// include makes a gap cover another one.
func (g *Gap) include(o Gap) {
	if g.Spans == 0 {
		*g = o
		return
	}
	g.From, g.To, g.Spans = min(g.From, o.From), max(g.To, o.To), g.Spans+o.Spans
}

// End implements Sink. It waits for the packer. Finish closes the file of a plan that streams.
func (r *Recorder) End(d *Dictionary) {
	r.ended.Do(func() {
		r.last = d
		r.closeAll(true)
		r.tellNames()
		r.packer.finish()
		if r.before != nil {
			r.packer.follow(<-r.before)
		}
		if r.longest != nil {
			r.keepLongest(d)
		}
	})
}

// keepLongest drops the spans that were not under way during one of the longest executions. If that
// fails, they stay.
func (r *Recorder) keepLongest(d *Dictionary) {
	sh := &r.packer.shelf
	zip, err := newPacking()
	if err != nil {
		return
	}
	gaps, err := sh.keepOnly(r.longest, stretch{r.first, r.now}, zip)
	if err != nil {
		return
	}
	sh.gaps = append(sh.gaps, gaps...)
	slices.SortFunc(sh.gaps, func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
	d.Kept = &Kept{Longest: r.longest.most, Wanted: r.longest.wanted, Spans: r.spans, Without: len(r.longest.without)}
	if w := sh.keeper.whole; w != math.MaxUint64 {
		d.Kept.Whole = w
	}
}

// Finish completes the file of a plan that streams, after End. The dictionary's Meta may have been
// completed in between. The error says what could not be written. The part that was written can be
// read.
func (r *Recorder) Finish() error {
	if r.last == nil || !r.options.Plan.Stream {
		return nil
	}
	return r.packer.complete(r.last, r.Gaps())
}

// Lacks returns why the file of a plan that streams lacks spans, or its end; nil: the file is
// whole. Call it after Finish.
func (r *Recorder) Lacks() error {
	if r.packer.out == nil {
		return nil
	}
	return r.packer.out.err
}

// Dictionary returns what End was told; nil before End.
func (r *Recorder) Dictionary() *Dictionary { return r.last }

// Streams tells whether the recording has a file of its own from its beginning.
func (r *Recorder) Streams() bool { return r.options.Plan.Stream }

// Output returns the file that Options.Open has made; nil: the plan does not stream.
func (r *Recorder) Output() io.WriteCloser {
	if r.packer.out == nil {
		return nil
	}
	return r.packer.out.w
}

// Gaps returns what was dropped, after End.
func (r *Recorder) Gaps() (out []Gap) {
	for _, g := range r.outside {
		if g.Spans > 0 {
			out = append(out, g)
		}
	}
	return append(append(out, r.packer.shelf.gaps...), r.unobserved.since(r.packer.shelf.gaps)...)
}

// Save writes the recording that was kept in memory, after End. Errors are those of w.
func (r *Recorder) Save(w io.Writer) error {
	err := writeHead(w, &r.options, &r.names)
	for i := range r.packer.shelf.chunks {
		if err == nil {
			err = putBlock(w, blockChunk, r.packer.shelf.chunks[i].data)
		}
	}
	if err == nil {
		err = writeTail(w, r.last, r.Gaps())
	}
	if err != nil {
		return fmt.Errorf("write the timeline: %w", err)
	}
	return nil
}

// ErrBehind says that a recording cannot be copied now, because the packer is behind.
var ErrBehind = errors.New("the timeline is being recorded too fast to be copied now")

// Branch returns a recorder that holds what this one holds so far, in memory. It has a goroutine of
// its own, and the two do not affect each other. The engine's copy may go on with it, and end it.
// Branch does not wait for the packer; End of the branch does. The error may be ErrBehind.
func (r *Recorder) Branch() (*Recorder, error) {
	before, ok := r.packer.promise()
	if !ok {
		return nil, ErrBehind
	}
	o := r.options
	o.Plan.Stream, o.Open, o.Wait = false, nil, true
	b, err := NewRecorder(o)
	if err != nil {
		return nil, err
	}
	b.before = before
	b.from, b.to, b.now, b.closed, b.outside = r.from, r.to, r.now, r.closed, r.outside
	b.unobserved.gaps = slices.Clone(r.unobserved.gaps)
	b.names = names{slices.Clone(r.names.Defined), slices.Clone(r.names.Seats)}
	b.told, b.toldSeats = len(b.names.Defined), len(b.names.Seats)
	b.longest, b.spans, b.first, b.chunks = r.longest.clone(), r.spans, r.first, r.chunks
	for id, l := range r.lanes {
		own := *l
		own.data = slices.Clone(l.data)
		b.lanes[id], b.open = &own, b.open+len(own.data)+laneCost
	}
	return b, nil
}
