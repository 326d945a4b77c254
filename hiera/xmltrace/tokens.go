package xmltrace

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrRefused is wrapped by all errors about a file's contents.
var ErrRefused = errors.New("this is no trace that can be read")

// Limits of what is read. Files come from others.
const (
	mostToken = 64 << 10 // bytes of a tag, a comment, or a text
	mostDepth = 10000    // elements inside one another
	mostName  = 256      // bytes of an element's name
	mostValue = 2048     // bytes of an operation's attribute
)

// tokens reads XML piece by piece, in bounded memory. It knows no entities but XML's own five.
type tokens struct {
	d    *xml.Decoder
	in   *limited
	open []string // names of open elements, the one just begun included
	any  bool     // an element was read
}

func newTokens(r io.Reader) *tokens {
	in := &limited{r: bufio.NewReaderSize(r, 1<<16)}
	t := &tokens{d: xml.NewDecoder(in), in: in}
	t.d.CharsetReader = func(label string, from io.Reader) (io.Reader, error) {
		switch strings.ToLower(label) {
		case "iso-8859-1", "latin1", "us-ascii", "ascii":
			return &latin1{in: from.(io.ByteReader)}, nil
		}
		return nil, fmt.Errorf("its encoding is %.40q: convert it to UTF-8", label)
	}
	return t
}

// next returns the next piece. After the last element it returns io.EOF. What it returns is good
// until the next call.
func (t *tokens) next() (xml.Token, error) {
	for {
		t.in.left = mostToken
		tok, err := t.d.RawToken()
		if err != nil {
			return nil, t.explain(err)
		}
		switch e := tok.(type) {
		case xml.Directive:
			if text := string(e); strings.Contains(text, "[") || strings.Contains(text, "ENTITY") {
				return nil, t.refuse("it declares a document type of its own (<!DOCTYPE ... [), which may hide what it holds: leave that out")
			}
		case xml.StartElement:
			switch {
			case t.any && t.depth() == 0:
				return nil, t.refuse("it has more than one outermost element")
			case t.depth() == mostDepth:
				return nil, t.refuse("more than %d elements lie inside one another", mostDepth)
			case len(e.Name.Local) > mostName:
				return nil, t.refuse("an element's name is longer than %d bytes", mostName)
			}
			t.any = true
			t.open = append(t.open, e.Name.Local)
			return e, nil
		case xml.EndElement:
			n := t.depth()
			if n == 0 || t.open[n-1] != e.Name.Local {
				return nil, t.refuse("element %.40s ends, and did not begin inside the one around it", e.Name.Local)
			}
			t.open = t.open[:n-1]
			return e, nil
		case xml.CharData:
			return e, nil
		}
	}
}

// depth returns the number of open elements.
func (t *tokens) depth() int { return len(t.open) }

// explain turns an error of the decoder or of the file into one sentence.
func (t *tokens) explain(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, errLong):
		return t.refuse("a tag or text is longer than %d bytes", mostToken)
	case errors.Is(err, io.EOF) && !t.any:
		return t.refuse("it holds no element: it is no XML, or empty")
	case errors.Is(err, io.EOF) && t.depth() == 0:
		return io.EOF
	case errors.Is(err, io.EOF), errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		return t.refuse("it ends before its outermost element does: it was cut off, or is still being written")
	case errors.As(err, &syntax):
		return t.refuse("%s", syntax.Msg)
	case t.in.failed != nil:
		return t.in.failed
	}
	return t.refuse("%v", err)
}

// refuse returns the error that the file cannot be read, with the line and the reason.
func (t *tokens) refuse(format string, args ...any) error {
	line, _ := t.d.InputPos()
	return fmt.Errorf("%w: line %d: %s", ErrRefused, line, fmt.Sprintf(format, args...))
}

// attributes returns an element's attributes by name.
func attributes(list []xml.Attr) map[string]string {
	at := make(map[string]string, len(list))
	for _, a := range list {
		at[a.Name.Local] = a.Value
	}
	return at
}

var errLong = errors.New("too long")

// limited fails when one piece of XML is longer than is allowed. The decoder reads it byte by byte.
type limited struct {
	r      *bufio.Reader
	left   int
	failed error // of the underlying reader
}

// ReadByte implements io.ByteReader.
func (l *limited) ReadByte() (byte, error) {
	if l.left--; l.left < 0 {
		return 0, errLong
	}
	b, err := l.r.ReadByte()
	if err != nil && !errors.Is(err, io.EOF) {
		l.failed = err
	}
	return b, err
}

// Read implements io.Reader, which the decoder wants and does not call.
func (l *limited) Read(p []byte) (int, error) { return readOne(l, p) }

// latin1 makes UTF-8 of ISO-8859-1, byte by byte.
type latin1 struct {
	in     io.ByteReader
	second byte // of the last character's two bytes, to be read yet; 0: none
}

// ReadByte implements io.ByteReader.
func (l *latin1) ReadByte() (byte, error) {
	if b := l.second; b != 0 {
		l.second = 0
		return b, nil
	}
	b, err := l.in.ReadByte()
	if err != nil || b < 0x80 {
		return b, err
	}
	l.second = b&0x3f | 0x80
	return b>>6 | 0xc0, nil
}

// Read implements io.Reader, as limited does.
func (l *latin1) Read(p []byte) (int, error) { return readOne(l, p) }

// readOne reads at most one byte into p, as io.Reader's Read may.
func readOne(in io.ByteReader, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}
