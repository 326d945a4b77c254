package xmltrace

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"ompp-attach/hiera"
)

// Visitor is told what a file holds, in the order of the file.
type Visitor interface {
	// Process is told first, and once.
	Process(p *hiera.Process)
	// Thread begins the operations of a thread.
	Thread(num int)
	// Enter begins an operation; op is good until the call returns. Leave ends the innermost one.
	// If Enter returns an error, Read refuses the file for that reason.
	Enter(op *hiera.Op) error
	Leave()
	// Gap is a time of which nothing is known, in ns.
	Gap(from, to int64, reason string)
}

// Read reads the file of a process and tells it to v. Its errors wrap ErrRefused, unless r failed.
func Read(r io.Reader, v Visitor) error {
	x := reader{tokens: newTokens(r), v: v}
	for {
		tok, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := tok.(type) {
		case xml.StartElement:
			err = x.begin(&e)
		case xml.EndElement:
			x.end(e.Name.Local)
		case xml.CharData:
			if strings.TrimSpace(string(e)) != "" {
				err = x.refuse("text stands between elements")
			}
		}
		if err != nil {
			return err
		}
	}
}

type reader struct {
	*tokens
	v  Visitor
	op hiera.Op
}

func (x *reader) begin(e *xml.StartElement) error {
	name := e.Name.Local
	switch {
	case x.depth() == 1:
		return x.process(e)
	case name == "thread" && x.depth() == 2:
		num, err := strconv.Atoi(attribute(e, "num"))
		if err != nil {
			return x.refuse("a thread has no number (attribute num)")
		}
		x.v.Thread(num)
		return nil
	case name == "gap":
		from, to, err := x.times(e)
		if err == nil {
			x.v.Gap(from, to, attribute(e, "reason"))
		}
		return err
	case name == "processor" || name == "thread":
		return x.refuse("element %s has no place there", name)
	}
	if err := x.operation(e); err != nil {
		return err
	}
	if err := x.v.Enter(&x.op); err != nil {
		return x.refuse("%v", err)
	}
	return nil
}

func (x *reader) end(name string) {
	if x.depth() > 0 && name != "thread" && name != "gap" {
		x.v.Leave()
	}
}

func attribute(e *xml.StartElement, name string) string {
	for i := range e.Attr {
		if e.Attr[i].Name.Local == name {
			return e.Attr[i].Value
		}
	}
	return ""
}

func (x *reader) process(e *xml.StartElement) error {
	if e.Name.Local != "processor" {
		return x.refuse("its outermost element is %.40s: a trace has processor", e.Name.Local)
	}
	p := hiera.Process{Host: attribute(e, "host"), Program: attribute(e, "program")}
	var err error
	if p.Rank, err = parseRank(attribute(e, "rank")); err != nil {
		return x.refuse("%v", err)
	}
	var begun, ended bool
	p.Init, begun = seconds(attribute(e, "init"))
	p.End, ended = seconds(attribute(e, "finalize"))
	if !begun || !ended || p.End < p.Init {
		return x.refuse("init and finalize of a processor are times in seconds, one after the other")
	}
	if pid, err := strconv.Atoi(attribute(e, "pid")); err == nil {
		p.PID = max(0, pid)
	}
	x.v.Process(&p)
	return nil
}

func (x *reader) times(e *xml.StartElement) (from, to int64, err error) {
	from, begun := seconds(attribute(e, "start_time"))
	to, ended := seconds(attribute(e, "finish_time"))
	if !begun || !ended || to < from {
		return 0, 0, x.refuse("start_time and finish_time of %.40s are times in seconds, one after the other", e.Name.Local)
	}
	return from, to, nil
}

// categories are those of the format's elements. Another element is a category by itself: its name
// without "hiera".
var categories = map[string]string{"hieraMPI": hiera.MPI, "hieraOMP": hiera.OpenMP, "hieraOOPS": hiera.OOPS, "hieraUser": hiera.User}

// operation fills in x.op.
func (x *reader) operation(e *xml.StartElement) (err error) {
	category, ok := categories[e.Name.Local]
	if !ok {
		category = strings.ToLower(strings.TrimPrefix(e.Name.Local, "hiera"))
	}
	x.op = hiera.Op{Category: category, Executions: 1, Bytes: hiera.Unknown, Dest: hiera.Unknown, Source: hiera.Unknown,
		Root: hiera.Unknown, Tag: hiera.Unknown, Peer: hiera.Unknown, From: hiera.Unknown}
	op := fields{Op: &x.op, count: hiera.Unknown}
	if op.Start, op.Finish, err = x.times(e); err != nil {
		return err
	}
	for i := range e.Attr {
		if len(e.Attr[i].Value) > mostValue {
			return x.refuse("attribute %.40s is longer than %d bytes", e.Attr[i].Name.Local, mostValue)
		}
	}
	for i := range e.Attr {
		if err := op.set(e.Attr[i].Name.Local, e.Attr[i].Value); err != nil {
			return x.refuse("%v", err)
		}
	}
	if op.Name == "" {
		op.Name = op.Class // of a constructor, or where the method was not told
	}
	if op.Name == "" {
		return x.refuse("%.40s does not name its operation", e.Name.Local)
	}
	if op.Bytes == hiera.Unknown && category == hiera.MPI {
		op.Bytes = hiera.Size(op.count, op.mpiType)
	}
	return nil
}

// fields are what attributes tell of an operation.
type fields struct {
	*hiera.Op
	count   int64  // of elements of an MPI type; hiera.Unknown: not told
	mpiType string // the type's name
}

// set sets the field of an attribute. Attributes without a field are skipped.
func (f *fields) set(attribute, value string) error {
	if to := f.text(attribute); to != nil {
		*to = value
		return nil
	}
	if to := f.rankOrTag(attribute); to != nil {
		*to = number(value)
		return nil
	}
	return f.setFigure(attribute, value)
}

// text returns the field of an attribute that is a text; nil: there is none.
func (f *fields) text(attribute string) *string {
	switch attribute {
	case "operation", "construct", "function", "method":
		return &f.Name
	case "class":
		return &f.Class
	case "name":
		return &f.Object
	case "level":
		return &f.Category
	case "file":
		return &f.File
	case "com", "comm":
		return &f.Comm
	case "type", "stype":
		return &f.mpiType
	}
	return nil
}

// rankOrTag returns the field of an attribute that is a rank, or a message's tag; nil:
// there is none.
func (f *fields) rankOrTag(attribute string) *int {
	switch attribute {
	case "dest":
		return &f.Dest
	case "rem":
		return &f.Source
	case "peer":
		return &f.Peer
	case "from":
		return &f.From
	case "tag":
		return &f.Tag
	case "root":
		return &f.Root
	}
	return nil
}

// setFigure sets the field of an attribute that is a number with a rule of its own.
func (f *fields) setFigure(attribute, value string) error {
	switch attribute {
	case "line":
		f.Line = max(0, number(value))
	case "executions":
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil || n > math.MaxInt32 {
			return fmt.Errorf("executions=%.20q is no number of executions", value)
		}
		f.Executions = n
	case "time":
		took, ok := seconds(value)
		if !ok {
			return fmt.Errorf("time=%.20q is no time in seconds", value)
		}
		f.Idle = f.Finish - f.Start - took
	case "open":
		f.Open = value == "yes"
	case "bytes":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			f.Bytes = n
		}
	case "count", "scount":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			f.count = n
		}
	}
	return nil
}

// number reads a number that is not negative; anything else is Unknown, as MPI_ANY_SOURCE is.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > math.MaxInt32 {
		return hiera.Unknown
	}
	return n
}
