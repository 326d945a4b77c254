package timeline

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"ompp-attach/profile"
)

// The errors of Read.
var (
	ErrNotTimeline  = errors.New("not a recorded timeline")
	ErrNewerVersion = errors.New("the timeline was recorded by a newer ompp-attach")
)

// File is a recorded timeline. Its spans are read when they are asked for.
type File struct {
	Dictionary *Dictionary
	Gaps       []Gap // in order of time
	// Torn: the file's end is missing, because the tool was killed or the disk was full.
	Torn bool
	PID  int
	Tool string // version of the tool that recorded it
	// Counting says what the counters of spans are; nil: the spans have none.
	Counting *Counting

	r       io.ReaderAt
	chunks  map[uint32][]place // by thread
	unpack  *unpacking
	tr      *translator
	tids    []uint32
	held    int     // most spans that are held at one time
	text    int64   // bytes of names and gaps
	damaged []int64 // positions of chunks whose contents are not what was written
}

// DamageError says that spans of a thread cannot be read. The others can.
type DamageError struct {
	TID uint32
	Gap // how many, and when
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%d spans of thread %d are missing: %v", e.Spans, e.TID, errDamaged)
}

// Unwrap lets errors.Is find errDamaged.
func (e *DamageError) Unwrap() error { return errDamaged }

// place is where a chunk lies in the file.
type place struct {
	extent
	at   int64
	size int
	sum  uint32
}

// Read opens a timeline. The errors are ErrNotTimeline, ErrNewerVersion, and those of r. A file
// that ends early is no error (Torn).
func Read(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, len(mark)+1)
	if _, err := r.ReadAt(head, 0); err != nil || string(head[:len(mark)]) != mark {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read the timeline: %w", err)
		}
		return nil, ErrNotTimeline
	}
	if v := head[len(mark)]; v != versionPlain && v != versionCounts {
		return nil, ErrNewerVersion
	}
	unpack, err := newUnpacking()
	if err != nil {
		return nil, err
	}
	f := &File{r: r, chunks: map[uint32][]place{}, unpack: unpack, held: mostHeld}
	var known names
	for at := int64(len(head)); at < size && f.Dictionary == nil; { // the dictionary comes last
		next, err := f.block(at, size, &known)
		if err != nil {
			return nil, err
		}
		if next == 0 {
			f.Torn = true
			break
		}
		at = next
	}
	if f.Dictionary == nil {
		f.Torn = true
		f.Dictionary = fromDefinitions(known.Defined, known.Seats)
	}
	f.tr = newTranslator(f.Dictionary)
	f.tellDamaged()
	f.order()
	return f, nil
}

// block reads the block at a position. next is where the next one begins; 0: the block is torn or
// damaged, and nothing behind it can be read.
func (f *File) block(at, size int64, known *names) (next int64, err error) {
	var head [blockHead]byte
	if at+blockHead > size {
		return 0, nil
	}
	if _, err := f.r.ReadAt(head[:], at); err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read the timeline: %w", err)
	}
	kind, n, sum := head[0], int64(binary.LittleEndian.Uint32(head[1:])), binary.LittleEndian.Uint32(head[5:])
	at += blockHead
	if n > largestBlock || at+n > size {
		return 0, nil
	}
	if kind == blockChunk {
		data, err := f.contents(at, int(n))
		if err != nil {
			return 0, err
		}
		x, err := takeExtent(&source{b: data})
		if err != nil || sumOf(kind, data) != sum {
			f.damaged = append(f.damaged, at) // the next block is where the length says
			return at + n, nil
		}
		f.chunks[x.tid] = append(f.chunks[x.tid], place{x, at, int(n), sum})
		return at + n, nil
	}
	if kind != blockDictionary {
		if f.text += n; f.text > largestText {
			return 0, nil
		}
	}
	data, err := f.contents(at, int(n))
	if err != nil {
		return 0, err
	}
	if sumOf(kind, data) != sum || f.describe(kind, data, known) != nil {
		return 0, nil
	}
	return at + n, nil
}

func (f *File) contents(at int64, n int) ([]byte, error) {
	// Read in pieces: the length may be a lie, and the file have a hole.
	data, err := io.ReadAll(io.NewSectionReader(f.r, at, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("read the timeline: %w", err)
	}
	return data, nil
}

// largestText bounds the blocks of names and gaps together (bytes). Three bytes of JSON can become
// a structure of a hundred.
const largestText = 16 << 20

// largestWindow bounds the memory of the dictionary's decoder (bytes).
const largestWindow = 64 << 20

// describe reads a block that is no chunk.
func (f *File) describe(kind byte, data []byte, known *names) error {
	switch kind {
	case blockHeader:
		var h header
		if err := json.Unmarshal(data, &h); err != nil {
			return err
		}
		if h.Counting != nil && !h.Counting.valid() {
			return errDamaged
		}
		f.PID, f.Tool, f.Counting = h.PID, h.Tool, h.Counting
	case blockNames:
		var n names
		if err := json.Unmarshal(data, &n); err != nil {
			return err
		}
		known.Defined, known.Seats = append(known.Defined, n.Defined...), append(known.Seats, n.Seats...)
	case blockGaps:
		var more []Gap
		if err := json.Unmarshal(data, &more); err != nil {
			return err
		}
		f.Gaps = append(f.Gaps, more...)
	case blockDictionary:
		zip, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largestWindow))
		if err != nil {
			return err
		}
		defer zip.Close()
		d := &Dictionary{}
		if err := json.NewDecoder(profile.Weighed(zip, len(data))).Decode(d); err != nil {
			return err
		}
		if !d.valid() {
			return errDamaged
		}
		f.Dictionary = d
	default:
		return errDamaged
	}
	return nil
}

// Damaged returns how many parts of the file are left out because they are damaged.
func (f *File) Damaged() int { return len(f.damaged) }

// tellDamaged adds a gap for each damaged chunk. The chunk's own times cannot be trusted. So the
// gap has the times of the chunks before and behind it in the file.
func (f *File) tellDamaged() {
	if len(f.damaged) == 0 {
		return
	}
	var all []place
	for _, list := range f.chunks {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	for _, at := range f.damaged[:min(len(f.damaged), mostGaps)] {
		i, _ := slices.BinarySearchFunc(all, at, func(p place, at int64) int { return cmp.Compare(p.at, at) })
		g := Gap{Why: ByDamage}
		switch n := len(all); {
		case n == 0:
		case i == 0: // taken to be as long as the chunk behind it
			g.From, g.To = all[0].first-min(all[0].first, all[0].last-all[0].first), all[0].first
		case i == n:
			g.From, g.To = all[n-1].last, all[n-1].last+(all[n-1].last-all[n-1].first)
		default:
			g.From, g.To = min(all[i-1].first, all[i].first), max(all[i-1].last, all[i].last)
		}
		f.Gaps = append(f.Gaps, g)
	}
}

// order sorts the chunks and gaps.
func (f *File) order() {
	for tid, list := range f.chunks {
		slices.SortStableFunc(list, func(a, b place) int { return cmp.Compare(a.first, b.first) })
		f.tids = append(f.tids, tid)
	}
	slices.SortFunc(f.tids, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(f.chunks[a][0].first, f.chunks[b][0].first), cmp.Compare(a, b))
	})
	slices.SortStableFunc(f.Gaps, func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
}

// Rank is the process's rank in MPI_COMM_WORLD; -1: the process is no rank, or its rank is not
// known.
func (f *File) Rank() int {
	if m := f.Dictionary.Meta.MPI; m != nil {
		return m.Rank
	}
	return -1
}

// TIDs returns the threads, as the operating system knows them, in order of their first spans.
func (f *File) TIDs() []uint32 { return f.tids }

// First returns the earliest start of a span (engine's clock, ns); 0 if there is none.
func (f *File) First() uint64 {
	if len(f.tids) == 0 {
		return 0
	}
	return f.chunks[f.tids[0]][0].first
}

// Last returns the latest end of a span (engine's clock, ns).
func (f *File) Last() (last uint64) {
	for _, list := range f.chunks {
		for i := range list {
			last = max(last, list[i].last)
		}
	}
	return last
}

// Spans returns how many spans the file holds, and how many bytes they take, packed.
func (f *File) Spans() (n uint64, size int64) {
	for _, list := range f.chunks {
		for i := range list {
			n, size = n+list[i].spans, size+int64(list[i].size)
		}
	}
	return n, size
}
