package tree

import "slices"

// Creations records which tasks create which, within one outermost region. Each region has its own
// record, so that a region looks the same whatever else was seen.
type Creations[T comparable] struct {
	By     map[T][]T // for each execution, the executions of the tasks that it creates
	Group  map[T]int // number of the group; 0: none
	Groups int       // group numbers used so far
}

// NewCreations returns an empty record.
func NewCreations[T comparable]() *Creations[T] {
	return &Creations[T]{By: map[T][]T{}, Group: map[T]int{}}
}

// Add notes that tasks a create tasks b. It tells whether a group changed.
func (c *Creations[T]) Add(a, b T) (changed bool) {
	if a == b || slices.Contains(c.By[a], b) {
		return false
	}
	c.By[a] = append(c.By[a], b)
	for k := range c.reached(b) {
		if c.reached(k)[a] {
			if !changed {
				c.Groups++
			}
			c.Group[k], changed = c.Groups, true
		}
	}
	return changed
}

// reached returns a task, and all tasks that it creates directly or through others.
func (c *Creations[T]) reached(k T) map[T]bool {
	seen, todo := map[T]bool{k: true}, []T{k}
	for len(todo) > 0 {
		next := c.By[todo[0]]
		todo = todo[1:]
		for _, k := range next {
			if !seen[k] {
				seen[k], todo = true, append(todo, k)
			}
		}
	}
	return seen
}

// Same tells whether two tasks are one, or of one group.
func (c *Creations[T]) Same(a, b T) bool {
	return a == b || c.Group[a] != 0 && c.Group[a] == c.Group[b]
}
