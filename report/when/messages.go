package when

import (
	"fmt"
	"slices"

	"ompp-attach/timeline"
	"ompp-attach/timeline/flows"
)

// reasons are the gaps' reasons in words.
var reasons = map[timeline.Why]string{
	timeline.ByAge:    "older than what was to be kept",
	timeline.ByCap:    "more than was to be kept",
	timeline.BySpeed:  "the tool could not write as fast as the program executed",
	timeline.ByDisk:   "the file could not be written",
	timeline.Outside:  "outside of the time that was to be recorded",
	timeline.ByLength: "none of the longest executions was under way",
	timeline.ByDamage: "a part of the file is damaged",
}

// gaps notes which spans a process's timeline lacks.
func (m *maker) gaps(f *timeline.File) {
	if k := f.Dictionary.Kept; k != nil {
		n, _ := f.Spans()
		m.Notes = append(m.Notes, "Of "+title(f)+": "+k.Sentences(n))
	}
	for i := range f.Gaps {
		m.gap(f, &f.Gaps[i])
	}
	if f.Torn {
		m.Notes = append(m.Notes, "The timeline of "+title(f)+" was cut off.")
	}
}

// gap notes a gap. Its times can lie outside of the picture.
func (m *maker) gap(f *timeline.File, g *timeline.Gap) {
	if len(m.Gaps) == mostGaps {
		m.Notes = append(m.Notes, fmt.Sprintf("There are more than %d gaps.", mostGaps))
	}
	if len(m.Gaps) >= mostGaps {
		return
	}
	at := func(ns uint64) int64 {
		t := f.Dictionary.Monotonic(ns)
		return min(m.Length, int64(t-min(t, m.from)))
	}
	why := reasons[g.Why]
	if why == "" {
		why = string(g.Why)
	}
	m.Gaps = append(m.Gaps, Gap{title(f), at(g.From), at(max(g.From, g.To)), why, g.Spans})
}

// receive notes the ends of messages at a row.
func (m *maker) receive(row int, f *timeline.File, marks []flows.Mark) {
	for _, k := range marks {
		if k.Role != flows.Sends && k.Role != flows.Receives {
			continue
		}
		if m.ends == nil {
			m.ends = map[uint64]*Message{}
		}
		e := m.ends[k.ID]
		if e == nil {
			e = &Message{From: -1, To: -1}
			m.ends[k.ID] = e
		}
		at := f.Dictionary.Monotonic(k.At)
		if t := int64(at - min(at, m.from)); k.Role == flows.Sends {
			e.From, e.Sent = row, t
		} else {
			e.To, e.Received = row, t
		}
	}
}

// pair writes the messages. If there are too many, those that were under way longest are shown.
func (m *maker) pair(found *flows.Flows) {
	for _, e := range m.ends {
		if e.From >= 0 && e.To >= 0 {
			m.Messages = append(m.Messages, *e)
		}
	}
	slices.SortFunc(m.Messages, func(a, b Message) int {
		if d := (b.Received - b.Sent) - (a.Received - a.Sent); d != 0 {
			return int(min(1, max(-1, d)))
		}
		return int(min(1, max(-1, a.Sent-b.Sent)))
	})
	if n := len(m.Messages); n > mostMessages {
		m.Unshown = n - mostMessages
		m.Messages = m.Messages[:mostMessages]
	}
	m.Notes = append(m.Notes, found.Without...)
}
