package profile

import (
	"bytes"
	"errors"
	"io"
	"reflect"
)

// A profile of a few kilobytes can unpack to gigabytes, and three bytes of JSON can become a
// structure of hundreds. So the memory that a profile needs is estimated while it is unpacked, and
// bounded by what is plausible. Figures compress to a quarter, those of a thousand idle threads to
// a hundredth.
const (
	plentyOf = 512 << 20 // bytes in memory that every profile may need
	perByte  = 128       // further bytes in memory per byte of its file
	perText  = 4         // bytes in memory per byte of JSON: the text, its growth, lists of numbers
)

// perValue is the size of the largest structure (bytes) that JSON may write as {} or null.
var perValue = int64(max(reflect.TypeFor[ThreadStats]().Size(), reflect.TypeFor[MPIStats]().Size(), reflect.TypeFor[Region]().Size()))

var errBomb = errors.New("it would unpack to far more than its size can hold")

// packedBytes counts the bytes that are read through it.
type packedBytes struct {
	r io.Reader
	n int64
}

func (c *packedBytes) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// weighed fails when the data read so far needs more memory than is plausible.
type weighed struct {
	r      io.Reader
	packed *packedBytes
	needs  int64
}

func (w *weighed) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	values := bytes.Count(b[:n], []byte("{")) + bytes.Count(b[:n], []byte("null"))
	w.needs += perText*int64(n) + perValue*int64(values)
	if w.needs > max(plentyOf, perByte*w.packed.n) {
		return 0, errBomb
	}
	return n, err
}

// Weighed returns a reader of a text that was packed in so many bytes. It fails where the text
// needs more memory than is plausible.
func Weighed(text io.Reader, packed int) io.Reader {
	return &weighed{r: text, packed: &packedBytes{n: int64(packed)}}
}

// mostSteps bounds the sum of the lengths of all nodes' paths, because reports write down these
// paths. A chain of 8,000 nodes reaches the bound, and so do a million nodes at depth 30.
const mostSteps = 1 << 25

// pathsTooLong tells whether a profile's reports would be far larger than the profile.
func pathsTooLong(p *Profile) bool {
	depth := make([]int32, len(p.Nodes))
	steps := int64(0)
	for i := range p.Nodes {
		if up := p.Nodes[i].Parent; up >= 0 {
			depth[i] = depth[up] + 1
		}
		steps += int64(depth[i])
	}
	return steps > mostSteps
}
