package messages

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/waits"
)

// Untold takes operations for which no call waits any more: tests completed them without telling
// which messages came.
func (r *Room) Untold(ops []waits.Operation) {
	for _, op := range ops {
		if s := receiver(op); s != nil && s.held != nil {
			s.came(nil)
			r.goOn(s.box)
		}
	}
}

// Arrived takes the messages that a call's completed operations received. ops are the operations of
// c.Completes, at the same indexes; nil: there is no such operation.
func (r *Room) Arrived(c *match.Call, ops []waits.Operation) {
	told := c.Came
	var boxes []*inbox
	for at, op := range ops {
		var m *match.Came
		for len(told) > 0 && told[0].At <= at {
			if told[0].At == at {
				m = &told[0]
			}
			told = told[1:]
		}
		if s := receiver(op); s != nil && s.held != nil {
			s.came(m)
			if len(boxes) == 0 || boxes[len(boxes)-1] != s.box {
				boxes = append(boxes, s.box)
			}
		}
	}
	for _, b := range boxes {
		r.goOn(b)
	}
}
