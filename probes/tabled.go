package probes

import (
	"slices"

	"ompp-attach/event"
)

// NewTabled returns a decoder whose rows are all points of libgomp's tables, wherever they would be
// placed. It serves streams of records that no kernel side made.
func NewTabled() *Decoder {
	points := slices.Concat(gompPoints, gompNewer)
	for _, p := range points {
		if p.exit != event.NoEdge {
			points = append(points, point{construct: p.construct, entry: p.exit})
		}
	}
	points = append(points, pointTeamStart, pointWorkerBegin, pointWorkerEnd, pointTeamEnd,
		pointTaskCreated, pointTaskBegin, pointTaskEnd)
	d := &Decoder{}
	for i := range points {
		d.rows = append(d.rows, decoded{point: &points[i], runtime: event.Gomp})
	}
	return d
}

// Rows returns how many rows the decoder knows.
func (d *Decoder) Rows() int { return len(d.rows) }
