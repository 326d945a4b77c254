package calllog

import (
	"encoding/binary"
	"fmt"

	"ompp-attach/mpi/match"
)

// addCame records which messages the requests of a thread's call received. First it writes how many
// calls without such requests came before, and how many messages follow. Then it writes, for each
// message, the request's index, the source and the tag.
func (r *Recorder) addCame(i int, c *match.Call) (bytes int) {
	was := &r.before[i]
	if len(c.Came) == 0 {
		was.calls++
		return 0
	}
	for len(r.Came) <= i {
		r.Came = append(r.Came, nil)
	}
	b := r.Came[i]
	b = binary.AppendUvarint(b, was.calls)
	was.calls = 0
	b = binary.AppendUvarint(b, uint64(len(c.Came)))
	for _, m := range c.Came {
		b = binary.AppendUvarint(b, uint64(m.At))
		b = binary.AppendVarint(b, int64(m.From))
		b = binary.AppendVarint(b, int64(m.Tag))
	}
	bytes, r.Came[i] = len(b)-len(r.Came[i]), b
	return bytes
}

// came reads which messages the requests of a thread's calls received.
type came struct {
	numbers
	until uint64 // number of calls before the next call with a message
	known bool   // until has been read
}

// next fills in Call.Came of the thread's next call.
func (r *came) next(c *match.Call) error {
	if len(r.data) == 0 {
		return r.err
	}
	if !r.known {
		r.until, r.known = r.unsigned(), true
	}
	if r.until > 0 {
		r.until--
		return r.err
	}
	r.known = false
	for n := r.unsigned(); n > 0 && r.err == nil; n-- {
		at := r.unsigned()
		if r.err == nil && at >= uint64(len(c.Completes)) {
			r.err = fmt.Errorf("%w: of %d requests, number %d received a message", ErrDamaged, len(c.Completes), at)
		}
		c.Came = append(c.Came, match.Came{At: int(at), From: int32(r.signed()), Tag: int32(r.signed())})
	}
	return r.err
}

// numbers reads numbers one after the other.
type numbers struct {
	data []byte
	err  error
}

func (r *numbers) unsigned() uint64 {
	v, n := binary.Uvarint(r.data)
	return r.took(v, n)
}

func (r *numbers) signed() int64 {
	v, n := binary.Varint(r.data)
	r.took(0, n)
	return v
}

func (r *numbers) took(v uint64, n int) uint64 {
	if n <= 0 {
		if r.err == nil {
			r.err = fmt.Errorf("%w: a number is cut off", ErrDamaged)
		}
		r.data = nil
		return 0
	}
	r.data = r.data[n:]
	return v
}
