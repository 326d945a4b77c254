package timeline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// output is the file of a plan that streams.
type output struct {
	w       io.WriteCloser
	written int64 // bytes of whole blocks
	most    int64
	err     error // the first error; after it, no chunk is written
	say     func(string)

	last  Gap   // what is lost without the last chunk in the file; no spans: there is none
	start int64 // where that chunk begins
}

func newOutput(o *Options, most int64) (*output, error) {
	w, err := o.Open()
	if err != nil {
		return nil, err
	}
	out := &output{w: w, most: most, say: o.Say}
	if err := writeHead(counted{out}, o, &names{}); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("write the timeline: %w", err)
	}
	return out, nil
}

// counted counts the bytes that were written.
type counted struct{ *output }

// Write implements io.Writer.
func (c counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if err == nil {
		c.written += int64(n)
	}
	return n, err
}

// full tells whether so many more bytes would exceed the cap.
func (o *output) full(more int) bool { return o.written+int64(more) > o.most }

// chunk writes a chunk. It tells whether that was possible.
func (o *output) chunk(c *chunk) bool {
	start := o.written
	ok := o.try(func(w io.Writer) error { return putBlock(w, blockChunk, c.data) })
	if ok {
		o.last, o.start = c.lost(ByDisk), start
	}
	return ok
}

func (o *output) names(n *names) {
	o.try(func(w io.Writer) error { return putJSON(w, blockNames, n) })
}

// try writes blocks. After a failure the file is cut behind its last whole block. try then writes
// no more, even if the disk has room again: the user has been told.
func (o *output) try(write func(io.Writer) error) bool {
	if o.err != nil {
		return false
	}
	whole := o.written
	if o.err = write(counted{o}); o.err == nil {
		return true
	}
	o.written = whole
	if f, ok := o.w.(interface{ Truncate(int64) error }); ok {
		_ = f.Truncate(whole)
	}
	if o.say != nil {
		reason := o.err
		var pe *fs.PathError
		if errors.As(reason, &pe) { // its path may be one of ours
			reason = pe.Err
		}
		o.say(fmt.Sprintf("the timeline cannot be written any more (%v): what is in the file can be read, and the measurement goes on", reason))
	}
	return false
}

// complete writes the file's end, and closes the file. If there is no room for the end, it takes
// the place of the last chunk. After a failure of try, complete returns nil:
// the user has been told.
func (o *output) complete(d *Dictionary, gaps []Gap) error {
	told := o.err != nil
	err := o.tail(d, gaps)
	if err != nil && o.last.Spans > 0 {
		o.written = o.start
		_ = o.tail(d, append(gaps, o.last)) // else the file is torn, and can be read
	}
	if cerr := o.w.Close(); err == nil {
		err = cerr
	}
	if told || err == nil {
		return nil
	}
	o.err = err
	return fmt.Errorf("write the timeline's end: %w", err)
}

// tail writes the file's end behind what was written.
func (o *output) tail(d *Dictionary, gaps []Gap) error {
	if f, ok := o.w.(interface {
		io.Seeker
		Truncate(int64) error
	}); ok {
		if err := f.Truncate(o.written); err != nil {
			return err
		}
		if _, err := f.Seek(o.written, io.SeekStart); err != nil {
			return err
		}
	}
	return writeTail(o.w, d, gaps)
}
