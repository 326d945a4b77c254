package waits

// Brood is the tasks for which a wait waits: the children of a task, or the members of a taskgroup.
// A nil *Brood has none.
type Brood struct {
	left int  // how many have not ended, as far as events are read
	last Task // the last one that has ended
}

// Join counts a task that was created.
func (b *Brood) Join() {
	if b != nil {
		b.left++
	}
}

// Leave notes that a task has ended.
func (b *Brood) Leave(k *Task) {
	if b == nil {
		return
	}
	if b.left--; k.To > b.last.To && k.Node != nil {
		b.last = *k
	}
}

// Lives tells whether not all tasks have ended, as far as events are read.
func (b *Brood) Lives() bool { return b != nil && b.left > 0 }

// Last returns the task that has ended last, before a time (ns); nil: it is not known, or not all
// have ended.
func (b *Brood) Last(at uint64) *Task {
	if b == nil || b.left != 0 || b.last.Node == nil || b.last.To > at {
		return nil
	}
	return &b.last
}
