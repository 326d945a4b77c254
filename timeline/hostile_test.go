package timeline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ompp-attach/event"
	"ompp-attach/internal/hostile"
)

// made returns a file with a header and what a test puts behind it.
func made(t *testing.T, put func(b *bytes.Buffer)) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeHead(&b, &Options{}, &names{}); err != nil {
		t.Fatal(err)
	}
	put(&b)
	return b.Bytes()
}

// TestBombs: what a small file unpacks to is bounded.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks large files")
	}
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := `{"nodes":[` + strings.Repeat("{},", 100_000_000) + `{}]}`
	bomb := zip.EncodeAll([]byte(text), nil)
	hostile.Within(func() {
		f := read(t, made(t, func(b *bytes.Buffer) { _ = putBlock(b, blockDictionary, bomb) }))
		if !f.Torn || !f.Dictionary.Unresolved {
			t.Errorf("a dictionary of %d bytes in %d is read: %d nodes", len(text), len(bomb), len(f.Dictionary.Nodes))
		}
	})
	many := []byte(`{"defined":[` + strings.Repeat("{},", largestText/3) + `{}]}`)
	f := read(t, made(t, func(b *bytes.Buffer) { _ = putBlock(b, blockNames, many) }))
	if !f.Torn {
		t.Errorf("%d bytes of names are read", len(many))
	}
}

// TestOverlap: a file of which all chunks begin at one time is read in bounded memory, and what is
// left out is told.
func TestOverlap(t *testing.T) {
	p, err := newPacking()
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte{}
	n := uint64(0)
	var st state
	for len(raw) < chunkSize-largestSpan {
		raw = st.put(raw, &Span{Node: 1, To: 1})
		n++
	}
	packed := p.pack(&chunk{extent: extent{tid: 1, last: 1, spans: n, raw: len(raw)}, data: raw})
	const chunks, held = 40, 1 << 18
	b := made(t, func(b *bytes.Buffer) {
		for range chunks {
			_ = putBlock(b, blockChunk, packed.data)
		}
		_ = writeTail(b, dictionary(1), nil)
	})
	hostile.Within(func() {
		f, got, missing := read(t, b), uint64(0), uint64(0)
		f.held = held // the race detector makes more slow
		for _, err := range f.Thread(1) {
			var d *DamageError
			if errors.As(err, &d) {
				missing += d.Spans
			} else {
				got++
			}
		}
		if got == 0 || got > held || got+missing != chunks*n {
			t.Errorf("%d spans and %d missing, of %d", got, missing, chunks*n)
		}
		if missing == 0 {
			t.Error("nothing is left out: the test proves nothing")
		}
	})
}

// TestManyDefinitions: a file that was cut off is opened soon, however many places it names.
func TestManyDefinitions(t *testing.T) {
	defs := make([]Definition, 200_000)
	for i := range defs {
		defs[i] = Definition{ID: int32(i + 1), Construct: event.Barrier, Address: uint64(i / 2)}
	}
	before := hostile.ProcessorTime()
	d := fromDefinitions(defs, nil)
	if took := hostile.ProcessorTime() - before; took > 5*time.Second || len(d.Regions) != len(defs)/2 || len(d.Nodes) != len(defs)+1 {
		t.Errorf("%d regions and %d nodes in %v", len(d.Regions), len(d.Nodes), took)
	}
}

// TestLies: lengths that lie, and what comes behind the end, harm nothing.
func TestLies(t *testing.T) {
	whole := made(t, func(b *bytes.Buffer) { _ = writeTail(b, dictionary(1), nil) })
	for _, n := range []uint32{1, largestBlock, largestBlock + 1, 1<<32 - 1} {
		head := make([]byte, blockHead)
		head[0] = blockChunk
		binary.LittleEndian.PutUint32(head[1:], n)
		if f := read(t, append(bytes.Clone(whole[:len(mark)+1]), head...)); !f.Torn {
			t.Errorf("a block of %d bytes is read", n)
		}
		if f := read(t, append(bytes.Clone(whole), head...)); f.Torn || len(f.Dictionary.Nodes) != 5 {
			t.Errorf("behind the end: torn %v, %d nodes", f.Torn, len(f.Dictionary.Nodes))
		}
	}
}

// TestStreamInMemory: the cap of a file is none of the memory.
func TestStreamInMemory(t *testing.T) {
	r := recorder(t, Options{Plan: Plan{Cap: 1 << 40, Stream: true}, Open: func() (io.WriteCloser, error) { return &limited{left: 1 << 20}, nil }})
	p := r.packer
	if held := p.shelf.most + int64(cap(p.queue))*chunkSize + int64(r.mostOpen); held > defaultCap {
		t.Errorf("a file of 1 TiB may take %d bytes of memory", held)
	}
	r.End(dictionary(1))
}
