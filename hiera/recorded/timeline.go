package recorded

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"ompp-attach/hiera"
	"ompp-attach/hiera/xmltrace"
	"ompp-attach/mpi"
	"ompp-attach/timeline"
)

// reasons say in words why a timeline lacks spans.
var reasons = map[timeline.Why]string{
	timeline.ByAge: "older than what was to be kept", timeline.ByCap: "more than was to be kept", timeline.BySpeed: "the tool was too slow",
	timeline.ByDisk: "the file could not be written", timeline.Outside: "outside of the time that was recorded", timeline.ByDamage: "the file is damaged",
	timeline.ByLength: "none of the longest executions was under way",
	timeline.Off:      "measurement was switched off", timeline.ByBudget: "not observed, to save cost",
}

// WriteTimeline writes the timeline of a process as an XML trace. rank is the process's number in
// the trace. Memory grows with the depth of the spans. Spans that are damaged are missing; a gap
// stands for them, and damaged is told. Other errors are those of w,
// and of a timeline that cannot be read.
func WriteTimeline(w io.Writer, f *timeline.File, rank int, damaged func(*timeline.File, *timeline.DamageError)) error {
	d, m := f.Dictionary, &f.Dictionary.Meta
	t := xmlTimeline{file: f, damaged: damaged, from: f.First(), ops: make([]hiera.Op, len(d.Regions))}
	for i := range d.Regions {
		t.ops[i] = Op(&d.Regions[i])
	}
	end := t.at(max(f.First(), f.Last()))
	if len(f.Gaps) == 0 && !f.Torn {
		end = max(end, m.Duration)
	}
	for _, g := range f.Gaps {
		end = max(end, t.at(g.To))
	}
	x := xmltrace.NewWriter(w, &hiera.Process{Rank: rank, End: end, Host: m.Host, PID: m.PID, Program: m.Program})
	t.Writer = x
	for i := range f.Gaps {
		t.gap(&f.Gaps[i])
	}
	if f.Torn {
		t.Gap(end, end, "the recording was cut off: later executions are missing")
	}
	tids := f.TIDs()
	for i, tid := range tids {
		if len(tids) > 1 {
			x.Thread(i, int(tid))
		}
		if err := t.thread(tid); err != nil {
			return err
		}
		if len(tids) > 1 {
			x.End()
		}
	}
	return x.Close()
}

// xmlTimeline writes the spans of a process.
type xmlTimeline struct {
	*xmltrace.Writer
	file *timeline.File
	from uint64 // the first span's start; the trace's times count from there
	ops  []hiera.Op
	open []openSpan

	damaged func(*timeline.File, *timeline.DamageError)
}

func (t *xmlTimeline) gap(g *timeline.Gap) {
	reason := cmp.Or(reasons[g.Why], string(g.Why))
	if g.Spans > 0 {
		reason += fmt.Sprintf(" (%d executions)", g.Spans)
	}
	if what := t.file.Dictionary.Missing(g); what != "" {
		reason += ": " + what
	}
	t.Gap(t.at(g.From), t.at(max(g.From, g.To)), reason)
}

type openSpan struct {
	node int32
	to   uint64
}

func (t *xmlTimeline) at(ns uint64) int64 { return int64(ns - min(ns, t.from)) }

func (t *xmlTimeline) thread(tid uint32) error {
	t.open = t.open[:0]
	var missing []*timeline.DamageError
	for s, err := range t.file.Thread(tid) {
		var d *timeline.DamageError
		if errors.As(err, &d) {
			missing = append(missing[:min(len(missing), mostMissing)], d)
			t.damaged(t.file, d)
			continue
		}
		if err != nil {
			return err
		}
		if s.Kind == timeline.Created { // a moment, and no execution
			continue
		}
		for n := len(t.open); n > 0 && !t.holds(t.open[n-1], s); n-- {
			t.open = t.open[:n-1]
			t.End()
		}
		t.span(s)
		t.open = append(t.open, openSpan{s.Node, s.To})
	}
	for range t.open {
		t.End()
	}
	for _, d := range missing {
		t.gap(&d.Gap)
	}
	return nil
}

// mostMissing bounds the gaps of a thread that are written one by one.
const mostMissing = 1000

// holds reports whether an open span holds one that begins. Where one ends and the other begins at
// the same time, the path decides.
func (t *xmlTimeline) holds(o openSpan, s *timeline.Span) bool {
	if o.to != s.From {
		return o.to > s.From
	}
	nodes := t.file.Dictionary.Nodes
	for n := nodes[s.Node].Parent; n > 0; n = nodes[n].Parent {
		if n == int(o.node) {
			return true
		}
	}
	return false
}

func (t *xmlTimeline) span(s *timeline.Span) {
	op := t.ops[t.file.Dictionary.Nodes[s.Node].Region]
	op.Start, op.Finish, op.Executions = t.at(s.From), t.at(max(s.From, s.To)), s.Exec.C
	op.Idle = op.Finish - op.Start - s.Exec.T
	op.Open = s.Flags&timeline.Open != 0
	if s.Kind == timeline.Call {
		t.message(&op, &s.Call)
	}
	var parts []xmltrace.Part
	if op.Category == hiera.OpenMP {
		for i, name := range []string{timeline.Enter: "enter", timeline.Body: "body", timeline.Barrier: "barrier", timeline.Exit: "exit"} {
			parts = append(parts, xmltrace.Part{Name: name, Time: s.Parts[i].T})
		}
	}
	t.Begin(&op, parts...)
}

// message fills in what is known of a call's message.
func (t *xmlTimeline) message(op *hiera.Op, c *timeline.MPI) {
	a := mpi.Args{Send: c.Out, Recv: c.In, Size: c.Size, Rank: c.Rank, Peer: c.Peer, Peer2: c.Peer2, Tag: c.Tag, Comm: c.Comm, Flags: c.Flags}
	m := c.Op.Messages(&a)
	if m.Known && (m.Sends || m.Recvs || m.Colls) {
		op.Bytes = int64(c.Out + c.In)
	}
	if c.Comm == 0 {
		return
	}
	op.Comm = fmt.Sprintf("comm-%x", c.Comm)
	// A communicator that nobody was seen to make, with all processes and the own rank there.
	if j := t.file.Dictionary.Meta.MPI; j != nil && !t.file.Dictionary.Meta.Attached && c.Made == 0 && c.Size == int32(j.Size) && c.Rank == int32(j.Rank) {
		op.Comm = hiera.World
	}
	if m.Sends {
		op.Dest = int(max(m.To, hiera.Unknown))
	}
	if m.Recvs {
		op.Source = int(max(m.From, hiera.Unknown))
	}
	switch {
	case m.Sends || m.Recvs:
		op.Tag = int(max(c.Tag, hiera.Unknown))
	case m.Colls && c.Peer >= 0:
		op.Root = int(c.Peer)
	}
}
