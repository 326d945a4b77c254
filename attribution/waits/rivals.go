package waits

import "ompp-attach/profile"

// Rivals numbers the processes that had cores for which threads were ready.
type Rivals struct {
	List   []profile.Rival
	number map[profile.Rival]int
}

// maxRivals bounds the processes that are numbered, because a machine starts new ones all the time.
// Later ones are not named.
const maxRivals = 256

// Had notes that a process had a core for a time (ns). It returns the index of the process in List;
// -1: there are too many.
func (r *Rivals) Had(pid int, name string, own bool, t int64) int {
	n := r.of(pid, name, own)
	if n >= 0 {
		r.List[n].T += max(0, t)
	}
	return n
}

func (r *Rivals) of(pid int, name string, own bool) int {
	k := profile.Rival{PID: pid, Name: name, Own: own}
	if own {
		k.Name = "" // threads of one process may have different names
	}
	n, ok := r.number[k]
	if ok {
		return n
	}
	if len(r.List) == maxRivals {
		return -1
	}
	if r.number == nil {
		r.number = map[profile.Rival]int{}
	}
	n = len(r.List)
	r.number[k] = n
	k.Name = name
	r.List = append(r.List, k)
	return n
}
