package timeline

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"ompp-attach/event"
)

// chunkSize is the size at which a thread's spans are closed as a chunk (bytes,
// before compression).
const chunkSize = 64 << 10

// largestSpan bounds the bytes of one span.
const largestSpan = 256 + 2*event.MaxCounts*binary.MaxVarintLen64

// extent says which spans are in a chunk.
type extent struct {
	tid   uint32
	first uint64 // the earliest start, ns
	last  uint64 // the latest end, ns
	spans uint64
	raw   int // bytes before compression

	firstEnd uint64 // the earliest end, ns; not in the file
}

// stretch returns when a chunk's spans were under way.
func (x *extent) stretch() stretch { return stretch{x.first, x.last} }

// chunk is a sequence of spans of one thread. It can be read by itself.
type chunk struct {
	extent
	id   uint64 // number of the chunk while it is recorded
	data []byte // raw, or packed behind a header
}

// chunkCost is the memory that a chunk takes beside its bytes.
const chunkCost = 128

// cost returns the memory of a chunk (bytes).
func (c *chunk) cost() int64 { return int64(len(c.data)) + chunkCost }

// lost is the gap that a chunk leaves behind.
func (x *extent) lost(why Why) Gap { return Gap{From: x.first, To: x.last, Why: why, Spans: x.spans} }

// add notes that a span lies in a chunk.
func (x *extent) add(s *Span) {
	if x.spans == 0 {
		x.first, x.firstEnd = s.From, s.To
	}
	x.firstEnd = min(x.firstEnd, s.To)
	x.first, x.last = min(x.first, s.From), max(x.last, s.To)
	x.spans++
}

// putExtent writes a chunk's header behind b.
func putExtent(b []byte, x *extent) []byte {
	b = binary.AppendUvarint(b, uint64(x.tid))
	b = binary.AppendUvarint(b, x.first)
	b = binary.AppendUvarint(b, x.last)
	b = binary.AppendUvarint(b, x.spans)
	return binary.AppendUvarint(b, uint64(x.raw))
}

// largestExtent bounds the bytes of a header.
const largestExtent = 5 * binary.MaxVarintLen64

// takeExtent reads a chunk's header. The error is errDamaged.
func takeExtent(r *source) (x extent, err error) {
	tid := r.unsigned()
	x = extent{tid: uint32(tid), first: r.unsigned(), last: r.unsigned(), spans: r.unsigned()}
	raw := r.unsigned()
	x.raw = int(raw)
	if r.bad || tid > 1<<32-1 || raw > chunkSize+largestSpan || x.spans > raw || x.first > x.last {
		return x, errDamaged
	}
	return x, nil
}

// packing compresses chunks. It is used by one goroutine.
type packing struct{ zip *zstd.Encoder }

func newPacking() (*packing, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(chunkSize), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("compress a timeline: %w", err)
	}
	return &packing{zip}, nil
}

// pack returns a chunk with its header and its spans compressed. The raw bytes can be used again.
func (p *packing) pack(c *chunk) chunk {
	head := putExtent(make([]byte, 0, largestExtent+len(c.data)/2), &c.extent)
	return chunk{c.extent, c.id, p.zip.EncodeAll(c.data, head)}
}

// chunks returns packed chunks of spans, which are in order of their threads.
func (p *packing) chunks(spans []Span) (out []chunk) {
	var c chunk
	var st state
	for i := range spans {
		if s := &spans[i]; c.spans > 0 && (c.tid != s.TID || len(c.data) >= chunkSize-largestSpan) {
			c.raw = len(c.data)
			out = append(out, p.pack(&c))
			c, st = chunk{data: c.data[:0]}, state{}
		}
		c.tid = spans[i].TID
		c.data = st.put(c.data, &spans[i])
		c.add(&spans[i])
	}
	if c.spans > 0 {
		c.raw = len(c.data)
		out = append(out, p.pack(&c))
	}
	return out
}

// unpacking reads chunks. It may be used by several goroutines.
type unpacking struct{ zip *zstd.Decoder }

func newUnpacking() (*unpacking, error) {
	zip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("read a timeline: %w", err)
	}
	return &unpacking{zip}, nil
}

// unpack returns the spans of a packed chunk. The error is errDamaged.
func (u *unpacking) unpack(data []byte) ([]Span, error) {
	r := &source{b: data}
	x, err := takeExtent(r)
	if err != nil {
		return nil, err
	}
	raw, err := u.zip.DecodeAll(r.b, make([]byte, 0, x.raw))
	if err != nil || len(raw) != x.raw {
		return nil, errDamaged
	}
	spans := make([]Span, 0, x.spans)
	var st state
	for in := (source{b: raw}); len(in.b) > 0; {
		s := Span{TID: x.tid}
		if err := st.take(&in, &s); err != nil {
			return nil, err
		}
		if s.TID = x.tid; s.From < x.first || s.To > x.last {
			return nil, errDamaged
		}
		spans = append(spans, s)
	}
	if uint64(len(spans)) != x.spans {
		return nil, errDamaged
	}
	return spans, nil
}
