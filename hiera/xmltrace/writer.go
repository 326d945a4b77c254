package xmltrace

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ompp-attach/hiera"
)

// Writer writes the file of one process. Its memory grows with the depth of open elements only. The
// first error of the underlying writer is returned by Close; what is written after it is dropped.
type Writer struct {
	w    *bufio.Writer
	open []string // names of open elements
	bare bool     // the innermost element has nothing inside yet, and its tag is open
	text bytes.Buffer
}

// NewWriter begins the file of a process.
func NewWriter(w io.Writer, p *hiera.Process) *Writer {
	x := &Writer{w: bufio.NewWriterSize(w, 1<<16)}
	x.w.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE processor SYSTEM \"" + TraceDTD + "\">\n")
	x.begin("processor")
	x.attribute("rank", rankName(p.Rank))
	x.attribute("init", decimal(p.Init))
	x.attribute("finalize", decimal(p.End))
	x.optional("host", p.Host)
	if p.PID > 0 {
		x.attribute("pid", strconv.Itoa(p.PID))
	}
	x.optional("program", p.Program)
	return x
}

// rankName returns a rank as the format spells it. An XML ID may not begin with a digit.
func rankName(rank int) string { return "P" + strconv.Itoa(max(0, rank)) }

// Thread begins the operations of a thread. End ends them.
func (x *Writer) Thread(num, tid int) {
	x.begin("thread")
	x.attribute("num", strconv.Itoa(num))
	if tid > 0 {
		x.attribute("tid", strconv.Itoa(tid))
	}
}

// Part is a part of a construct's time, in ns. Its name is that of an attribute of hieraOMP.
type Part struct {
	Name string
	Time int64
}

// Begin writes the beginning of an operation. What is written until End lies in it. Parts are
// those of a construct.
func (x *Writer) Begin(op *hiera.Op, parts ...Part) {
	switch op.Category {
	case hiera.MPI:
		x.begin("hieraMPI")
		x.attribute("operation", op.Name)
	case hiera.OpenMP:
		x.begin("hieraOMP")
		x.attribute("construct", op.Name)
		x.optional("name", op.Object)
	case hiera.OOPS:
		x.begin("hieraOOPS")
		x.attribute("class", op.Class)
		x.optional("method", op.Name)
	default:
		x.begin("hieraUser")
		x.attribute("function", op.Name)
		x.optional("class", op.Class)
		if op.Category != hiera.User {
			x.attribute("level", op.Category)
		}
	}
	x.attribute("file", op.File)
	x.attribute("line", strconv.Itoa(op.Line))
	x.attribute("start_time", decimal(op.Start))
	x.attribute("finish_time", decimal(op.Finish))
	if op.Idle != 0 {
		x.attribute("time", decimal(op.Time()))
	}
	if op.Executions != 1 {
		x.attribute("executions", strconv.FormatUint(op.Executions, 10))
	}
	if op.Open {
		x.attribute("open", "yes")
	}
	for _, p := range parts {
		if p.Time != 0 {
			x.attribute(p.Name, decimal(p.Time))
		}
	}
	if op.Category == hiera.MPI {
		x.message(op)
	}
}

// message writes what is known of an MPI operation's message.
func (x *Writer) message(op *hiera.Op) {
	for _, a := range []struct {
		name  string
		value int
	}{{"bytes", int(op.Bytes)}, {"dest", op.Dest}, {"rem", op.Source}, {"peer", op.Peer}, {"from", op.From}, {"tag", op.Tag}, {"root", op.Root}} {
		if a.value >= 0 {
			x.attribute(a.name, strconv.Itoa(a.value))
		}
	}
	x.optional("comm", op.Comm)
}

// Gap writes a time of which nothing is known, in ns. The reason is a sentence.
func (x *Writer) Gap(from, to int64, reason string) {
	x.begin("gap")
	x.attribute("start_time", decimal(from))
	x.attribute("finish_time", decimal(to))
	x.attribute("reason", reason)
	x.End()
}

// End ends the operation or thread that was begun last.
func (x *Writer) End() {
	name := x.open[len(x.open)-1]
	x.open = x.open[:len(x.open)-1]
	if x.bare {
		x.w.WriteString("/>\n")
		x.bare = false
		return
	}
	x.indent()
	x.w.WriteString("</" + name + ">\n")
}

// Close ends all that is open, and the file. It returns the first error of the underlying writer.
func (x *Writer) Close() error {
	for len(x.open) > 0 {
		x.End()
	}
	if err := x.w.Flush(); err != nil {
		return fmt.Errorf("write xml: %w", err)
	}
	return nil
}

func (x *Writer) begin(name string) {
	if x.bare {
		x.w.WriteString(">\n")
	}
	x.indent()
	x.w.WriteString("<" + name)
	x.open, x.bare = append(x.open, name), true
}

func (x *Writer) indent() {
	const deepest = 32 // so that deep traces do not grow with the square of their depth
	x.w.WriteString(strings.Repeat(" ", min(len(x.open), deepest)))
}

func (x *Writer) optional(name, value string) {
	if value != "" {
		x.attribute(name, value)
	}
}

func (x *Writer) attribute(name, value string) {
	x.w.WriteString(" " + name + `="`)
	x.text.Reset()
	_ = xml.EscapeText(&x.text, []byte(value)) // a buffer's writes do not fail
	x.w.Write(x.text.Bytes())
	x.w.WriteByte('"')
}
