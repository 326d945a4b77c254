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
	return o.try(func(w io.Writer) error { return putBlock(w, blockChunk, c.data) })
}

func (o *output) names(n *names) {
	o.try(func(w io.Writer) error { return putJSON(w, blockNames, n) })
}

// try writes blocks. After a failure the file is cut behind its last whole block, and try writes no
// more, even if the disk has room again: the user has been told.
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

// complete writes the file's end, and closes the file. After a failure of try, it returns nil.
func (o *output) complete(d *Dictionary, gaps []Gap) error {
	if o.err != nil { // the gaps and names may still fit where a chunk did not
		if f, ok := o.w.(io.Seeker); ok {
			if _, err := f.Seek(o.written, io.SeekStart); err == nil {
				_ = writeTail(o.w, d, gaps)
			}
		}
		_ = o.w.Close()
		return nil // the user has been told
	}
	err := writeTail(o.w, d, gaps)
	if cerr := o.w.Close(); err == nil {
		err = cerr
	}
	if o.err = err; err != nil {
		return fmt.Errorf("write the timeline's end: %w", err)
	}
	return nil
}
