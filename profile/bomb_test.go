package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// packed returns text that begins like a profile and repeats a piece, compressed as well as
// possible.
func packed(t *testing.T, begin, piece string, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.Repeat(piece, 1<<20/len(piece)+1))
	_, _ = io.WriteString(z, begin)
	for n := 0; n < size; n += len(text) {
		_, _ = z.Write(text)
	}
	_, _ = io.WriteString(z, `{"thread":0}]}]}`)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// No file of a megabyte takes gigabytes of memory.
func TestBombs(t *testing.T) {
	const begin = `{"version":1,"meta":{},"threads":[],"regions":[],"nodes":[{"parent":-1,"region":-1,"stats":[`
	for _, piece := range []string{"{},", "null,", " ", `{"thread":0},`, `{"thread":0,"mpi":{},"cost":{}},`} {
		b := packed(t, begin, piece, 160<<20)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(bytes.NewReader(b))
		runtime.ReadMemStats(&after)
		if alloc := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrNotProfile) || alloc > 1<<30 {
			t.Errorf("%q: %d bytes took %d MiB: %v", piece, len(b), alloc>>20, err)
		}
	}
}

// The figures of many idle threads compress well, and are not taken for a bomb.
func TestNoBomb(t *testing.T) {
	p := recordSample()
	p.Threads = make([]Thread, 256)
	for n := range 500 {
		node := Node{Parent: 0, Region: n % 2}
		for i := range p.Threads {
			node.Stats = append(node.Stats, ThreadStats{Thread: i, Exec: Sum{1000000, 100}})
		}
		p.Nodes = append(p.Nodes, node)
	}
	if _, err := Decode(bytes.NewReader(recorded(t, p))); err != nil {
		t.Error(err)
	}
}

// A chain of nodes takes little room in the file, and much in reports.
func TestLongPaths(t *testing.T) {
	for n, want := range map[int]error{5000: nil, 100000: ErrNotProfile} {
		p := recordSample()
		for len(p.Nodes) < n {
			p.Nodes = append(p.Nodes, Node{Parent: len(p.Nodes) - 1})
		}
		if _, err := Decode(bytes.NewReader(recorded(t, p))); !errors.Is(err, want) {
			t.Errorf("%d nodes: %v", n, err)
		}
	}
}
