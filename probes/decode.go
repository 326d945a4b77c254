package probes

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/event"
)

// Attached is a plan whose rows are stored in the kernel, so that it can be
// attached to any number of processes.
type Attached struct {
	Plan     *Plan
	points   []bpf.Point
	instance uint16
}

// Of returns the plan's probes that report some of the given constructs. It leaves out the
// program's markers that switch the measurement off and on.
func (a *Attached) Of(of event.Constructs) (points []bpf.Point) {
	for i, p := range a.points {
		pl := &a.Plan.Placements[i]
		if of.Has(event.Element(pl.Row.Construct, pl.Row.Fn)) && pl.Kernel.Flags&(bpf.RowOff|bpf.RowOn) == 0 {
			points = append(points, p)
		}
	}
	return points
}

// Others returns the plan's probes that Of leaves out.
func (a *Attached) Others(of event.Constructs) (points []bpf.Point) {
	chosen := a.Of(of)
	return slices.DeleteFunc(slices.Clone(a.points), func(p bpf.Point) bool { return slices.Contains(chosen, p) })
}

// Instance returns the event.Event.Instance of the events of the plan's probes.
func (a *Attached) Instance() uint16 { return a.instance }

// Points returns the plan's probes in the form that the kernel side takes.
func (a *Attached) Points() []bpf.Point { return a.points }

// Decoder knows all stored rows and turns records into events.
type Decoder struct {
	rows      []decoded
	instances uint16
}

type decoded struct {
	row      *Row
	runtime  event.Runtime
	instance uint16
	entry    event.Probe // the kind of the hits at its entry
	leftOut  bool        // the site of its records holds an event.LeftOut
}

// Store puts a plan's rows into the kernel and registers them for decoding. running says that the
// process may be inside regions already. Then forks and ends also report how deep they are nested,
// which costs two reads of memory each.
func (d *Decoder) Store(k *bpf.Probes, p *Plan, running bool) (*Attached, error) {
	a := &Attached{Plan: p, instance: d.instances}
	for i := range p.Placements {
		pl := &p.Placements[i]
		r := pl.Kernel
		if !running {
			r.Flags &^= bpf.RowLevelFromTLS
		}
		if pl.Row.Construct == event.UserRegion {
			// The engine tells by the stack pointer which executions an exception has left.
			if err := k.FoldBySP(); err != nil {
				return nil, err
			}
		}
		row, err := k.AddRow(r)
		if err != nil {
			return nil, fmt.Errorf("probe %s: %w", pl.Symbol, err)
		}
		for len(d.rows) <= int(row) {
			d.rows = append(d.rows, decoded{})
		}
		d.rows[row] = decoded{pl.Row, cmp.Or(pl.Row.Runtime, p.Runtime), d.instances, pl.kind(&r), r.Flags&bpf.RowTellsLeftOut != 0}
		a.points = append(a.points, bpf.Point{Offset: pl.Offset, Row: row, Return: pl.Return})
	}
	d.instances++
	return a, nil
}

// Event translates a record into ev. ok is false for a row that was never stored.
func (d *Decoder) Event(r *bpf.Record, ev *event.Event) (ok bool) {
	if int(r.Row) >= len(d.rows) || d.rows[r.Row].row == nil {
		return false
	}
	known := &d.rows[r.Row]
	row := known.row
	*ev = event.Event{
		Time: r.Time, PID: r.Pid, TID: r.Tid, Construct: row.Construct, Runtime: known.runtime,
		Instance: known.instance, Lost: r.Lost, SP: r.Sp, Flags: row.Marks,
	}
	if r.Flags&bpf.RecReturn != 0 {
		ev.Edge, ev.Probe = row.Return, event.ProbeReturn
		ev.Value = int64(int32(r.A)) // the calls that decide something return int or bool in eax
		if row.ZeroIsChosen {
			ev.Value = 0
			if r.A == 0 {
				ev.Value = 1
			}
		}
		switch row.Construct {
		case event.Single, event.Lock, event.Teams, event.Cancel, event.CancellationPoint:
			ev.Value &= 0xff // C's bool leaves the rest of eax undefined
		}
		return true
	}
	ev.Probe = known.entry
	ev.Edge, ev.Site, ev.Num, ev.Size, ev.Value = row.Entry, r.Site, r.Num, r.Size, row.Value
	if known.leftOut {
		ev.Site, ev.LeftOut = 0, event.LeftOut(r.Site)
	}
	switch {
	case row.Forwarded && r.Flags&bpf.RecInside != 0:
		ev.Site = 0
	case r.Flags&bpf.RecInside != 0:
		ev.Flags |= event.Inside
	}
	switch free := r.Flags&bpf.RecFree != 0; {
	case row.ZeroIfFree && !free:
		ev.Value = 1
	case free && !row.ZeroIfFree:
		ev.Flags |= event.FreeAtOnce
	}
	// If a fork has no return edge of its own, probes inside the runtime end it.
	if r.Flags&bpf.RecNoReturn != 0 && (row.Entry != event.Fork || row.Return != event.NoEdge) {
		ev.Flags |= event.NoReturn
	}
	switch {
	case r.Flags&bpf.RecUnarmed != 0:
		ev.Flags |= event.Unarmed
	case r.Flags&bpf.RecByChance != 0:
		ev.Flags |= event.ByChance
		if r.Flags&bpf.RecSeldom != 0 {
			ev.Flags |= event.Seldom
		}
	case r.Flags&bpf.RecAnyway != 0:
		ev.Flags |= event.Anyway
	}
	put(ev, row.A.To, r.A)
	put(ev, row.B.To, r.B)
	if row.Fn != 0 {
		ev.Fn = row.Fn
		ev.SP += uint64(row.Lift)
	}
	return true
}

// Fold translates a record of several executions into ev, which then points to f. ok is false for a
// row that was never stored.
func (d *Decoder) Fold(r *bpf.FoldRecord, ev *event.Event, f *event.Fold) (ok bool) {
	if int(r.Row) >= len(d.rows) || d.rows[r.Row].row == nil {
		return false
	}
	known := &d.rows[r.Row]
	row := known.row
	*f = event.Fold{Executions: r.N, Hits: r.Hits, Last: r.Last, Enter: r.Enter, Body: r.Body, Exit: r.Exit}
	if !row.isWhole() {
		f.Bodies = r.N
	}
	*ev = event.Event{
		Time: r.Time, PID: r.Pid, TID: r.Tid, Construct: row.Construct, Edge: event.Folded, Runtime: known.runtime, Probe: known.entry,
		Instance: known.instance, Lost: r.Lost, SP: r.Sp, Site: r.Site, Flags: row.Marks, Fold: f,
	}
	switch {
	case row.Forwarded && r.Flags&bpf.RecInside != 0:
		ev.Site = 0
	case r.Flags&bpf.RecInside != 0:
		ev.Flags |= event.Inside
	}
	put(ev, row.A.To, r.A)
	put(ev, row.B.To, r.B)
	return true
}

func put(ev *event.Event, to Field, v uint64) {
	switch to {
	case ToFn:
		ev.Fn = v
	case ToLoc:
		ev.Loc = v
	case ToKey:
		ev.Key = v
	case ToValue:
		ev.Value = int64(v)
	case ToTaskFlags:
		const untied = 1 // GOMP_TASK_FLAG_UNTIED (gomp-constants.h)
		if v&untied != 0 {
			ev.Flags |= event.Untied
		}
	}
}
