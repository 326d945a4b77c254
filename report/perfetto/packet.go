package perfetto

import (
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields that are written, by message (trace.proto, trace_packet.proto,
// track_event.proto, track_descriptor.proto, interned_data.proto, debug_annotation.proto).
const (
	tracePacket = 1

	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	eventCategory    = 3
	eventAnnotation  = 4
	eventType        = 9
	eventName        = 10
	eventTrack       = 11
	eventFlow        = 47
	eventTerminating = 48
	eventDouble      = 44

	internedCategories  = 1
	internedNames       = 2
	internedAnnotations = 3
	internedID          = 1
	internedText        = 2

	trackUUID    = 1
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5
	trackCounter = 8

	processPID  = 1
	processName = 6
	threadPID   = 1
	threadTID   = 2
	threadName  = 5

	annotationName   = 1
	annotationInt    = 4
	annotationString = 6
)

// Types of a track event (TrackEvent.Type).
const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3
	counted    = 4
)

// Flags of a sequence (TracePacket.SequenceFlags).
const (
	stateCleared = 1
	needsState   = 2
)

// sequence is the only sequence of packets: interned names are those of a sequence.
const sequence = 1

// message is a protobuf message that is being made.
type message []byte

func (m *message) number(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

func (m *message) fixed(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

func (m *message) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

func (m *message) sub(field protowire.Number, s message) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

// interner gives texts the numbers by which packets name them.
type interner struct {
	field protowire.Number // of InternedData
	ids   map[string]uint64
	fresh message // InternedData's entries that no packet has told yet
}

func newInterner(field protowire.Number) *interner {
	return &interner{field: field, ids: map[string]uint64{}}
}

func (in *interner) id(text string) uint64 {
	id, ok := in.ids[text]
	if !ok {
		id = uint64(len(in.ids) + 1)
		in.ids[text] = id
		var e message
		e.number(internedID, id)
		e.text(internedText, text)
		in.fresh.sub(in.field, e)
	}
	return id
}

// packets writes the packets of a trace.
type packets struct {
	w           io.Writer
	err         error
	categories  *interner
	names       *interner
	annotations *interner
	buffer      message
}

func newPackets(w io.Writer) *packets {
	return &packets{w: w, categories: newInterner(internedCategories), names: newInterner(internedNames), annotations: newInterner(internedAnnotations)}
}

// put writes a packet with its sequence, and with the names that it is the first to use.
func (p *packets) put(body message, flags uint64) {
	if p.err != nil {
		return
	}
	packet := body
	packet.number(packetSequence, sequence)
	packet.number(packetFlags, flags)
	var fresh message
	for _, in := range []*interner{p.categories, p.names, p.annotations} {
		fresh = append(fresh, in.fresh...)
		in.fresh = nil
	}
	if len(fresh) > 0 {
		packet.sub(packetInterned, fresh)
	}
	p.buffer = p.buffer[:0]
	p.buffer.sub(tracePacket, packet)
	_, p.err = p.w.Write(p.buffer)
}

// track describes a track.
func (p *packets) track(uuid, parent uint64, name string, kind protowire.Number, as message) {
	var d message
	d.number(trackUUID, uuid)
	if parent != 0 {
		d.number(trackParent, parent)
	}
	if name != "" {
		d.text(trackName, name)
	}
	if kind != 0 {
		d.sub(kind, as)
	}
	var packet message
	packet.sub(packetDescriptor, d)
	p.put(packet, needsState)
}

// value writes a value of a counter's track at a time.
func (p *packets) value(track, at uint64, v float64) {
	var m message
	m.number(eventType, counted)
	m.number(eventTrack, track)
	m.fixed(eventDouble, math.Float64bits(v))
	var packet message
	packet.number(packetTimestamp, at)
	packet.sub(packetEvent, m)
	p.put(packet, needsState)
}

// argument is a figure or text that the viewer shows beside a slice.
type argument struct {
	name string
	text string
	n    int64 // if text is empty
}

// moment is what happens on a track: a begin, an end, or an instant.
type moment struct {
	kind, at, track  uint64
	name, category   string
	flow, terminates uint64 // 0: none
	arguments        []argument
}

func (p *packets) tell(e *moment) {
	var m message
	m.number(eventType, e.kind)
	m.number(eventTrack, e.track)
	if e.name != "" {
		m.number(eventCategory, p.categories.id(e.category))
		m.number(eventName, p.names.id(e.name))
	}
	if e.flow != 0 {
		m.fixed(eventFlow, e.flow)
	}
	if e.terminates != 0 {
		m.fixed(eventTerminating, e.terminates)
	}
	for _, a := range e.arguments {
		var d message
		d.number(annotationName, p.annotations.id(a.name))
		if a.text != "" {
			d.text(annotationString, a.text)
		} else {
			d.number(annotationInt, uint64(a.n))
		}
		m.sub(eventAnnotation, d)
	}
	var packet message
	packet.number(packetTimestamp, e.at)
	packet.sub(packetEvent, m)
	p.put(packet, needsState)
}
