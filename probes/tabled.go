package probes

import "ompp-attach/event"

// NewTabled returns a decoder whose rows are the given ones of a runtime, wherever they would be
// placed. It serves streams of records that no kernel side made.
func NewTabled(r event.Runtime, rows []*Row) *Decoder {
	d := &Decoder{}
	for _, row := range rows {
		d.rows = append(d.rows, decoded{row: row, runtime: r})
	}
	return d
}

// Rows returns how many rows the decoder knows.
func (d *Decoder) Rows() int { return len(d.rows) }

// All returns the rows that a runtime may have in a plan. They are the rows of its tables, the rows
// of the places where calls of the entry points return, and the given places.
func All(tables []Row, places ...*Row) (all []*Row) {
	for i := range tables {
		all = append(all, &tables[i])
	}
	for i := range tables {
		if tables[i].Exit != event.NoEdge {
			all = append(all, tables[i].exit())
		}
	}
	return append(all, places...)
}
