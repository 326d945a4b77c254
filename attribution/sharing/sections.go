package sharing

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

const (
	noteDerivedSections = "libomp makes no call between sections: sectC is derived from its static schedule, sectT is the thread's whole share"
	// NoteUnknownSections is the note on sections whose number is not known.
	NoteUnknownSections = "in a region that was under way when measurement began the team's size is not known: sectC is without its sections"
)

// sectionsOfThread returns how many of n sections libomp's static schedule gives to a thread
// (__kmp_for_static_init, kmp_sch_static_balanced). Each thread gets n/size, and the first n mod
// size threads one more.
func sectionsOfThread(n int64, num, size int32) uint64 {
	if n <= 0 || size <= 0 {
		return 0
	}
	share := n / int64(size)
	if int64(num) < n%int64(size) {
		share++
	}
	return uint64(share)
}

// StartSection applies the runtime's answer whether there is another section. A section that is
// Open is over then.
func (sh *Constructs) StartSection(t *stack.Thread, ev *event.Event) {
	sh.EndSection(t, ev)
	if ev.Value == 0 {
		return
	}
	if open := sh.openSections(t); open != nil {
		open.Parts[profile.Body].C++
		open.Section = ev.Time
	}
}

// EndSection ends the section that a thread executes.
func (sh *Constructs) EndSection(t *stack.Thread, ev *event.Event) {
	if open := sh.openSections(t); open != nil && open.Section != 0 {
		open.Parts[profile.Body].T += ledger.Between(open.Section, ev.Time)
		open.Section = 0
	}
}

// openSections returns the sections that the thread executes: a sections construct, or
// a combined parallel sections region. It returns nil if there is none.
func (sh *Constructs) openSections(t *stack.Thread) *stack.OpenRegion {
	if i := t.Find(event.Sections, nil); i >= 0 {
		return &t.Stack[i]
	}
	if p := t.Level(); p >= 0 && t.Stack[p].Node.Key.Construct == event.ParallelSections {
		return &t.Stack[p]
	}
	return nil
}
