package attribution

import (
	"slices"

	"ompp-attach/event"
)

// Folding of recursive tasks. Tasks of several constructs may create each other, as the seven tasks
// of one recursive function do. Then the paths of creation would be all sequences of these tasks.
// Such tasks are a group. A path enters a group once. An execution whose creation path already has
// an execution of its group stands at the place where that one was created. In the end it hangs
// below the creation that leads to it in the fewest steps.

// creations records which tasks create which, within one outermost region. Each region has its own
// record, so that a region looks the same whatever else was seen.
type creations[T comparable] struct {
	by     map[T][]T // for each execution, the executions of the tasks that it creates
	group  map[T]int // number of the group; 0: none
	groups int       // group numbers used so far
}

func newCreations[T comparable]() *creations[T] {
	return &creations[T]{by: map[T][]T{}, group: map[T]int{}}
}

// add notes that tasks a create tasks b. It tells whether a group changed.
func (c *creations[T]) add(a, b T) (changed bool) {
	if a == b || slices.Contains(c.by[a], b) {
		return false
	}
	c.by[a] = append(c.by[a], b)
	for k := range c.reached(b) {
		if c.reached(k)[a] {
			if !changed {
				c.groups++
			}
			c.group[k], changed = c.groups, true
		}
	}
	return changed
}

// reached returns a task, and all tasks that it creates directly or through others.
func (c *creations[T]) reached(k T) map[T]bool {
	seen, todo := map[T]bool{k: true}, []T{k}
	for len(todo) > 0 {
		next := c.by[todo[0]]
		todo = todo[1:]
		for _, k := range next {
			if !seen[k] {
				seen[k], todo = true, append(todo, k)
			}
		}
	}
	return seen
}

func (c *creations[T]) same(a, b T) bool {
	return a == b || c.group[a] != 0 && c.group[a] == c.group[b]
}

// executionKey returns the key of the executions of the tasks that a construct creates.
func executionKey(k Key) Key {
	switch k.Construct {
	case event.UntiedTask:
		k.Construct = event.UntiedTaskExec
	case event.Task, event.TaskLoop:
		k.Construct = event.TaskExec
	default: // the creation of the task was lost
		k = Key{Kind: Kind{Construct: event.TaskExec, Runtime: k.Runtime}}
	}
	return k
}

// execution returns the node for executions of the tasks created at a node.
func (e *Engine) execution(n *node) *node {
	if n.execution != nil && n.era == e.era {
		return n.execution
	}
	k := executionKey(n.key)
	scope := e.scope(n)
	if scope.creations == nil {
		scope.creations = newCreations[Key]()
	}
	if by := n.creator(); by != nil && scope.creations.add(by.key, k) {
		e.era++
	}
	switch first := n.entered(k, scope.creations); {
	case first == nil:
		n.execution = e.child(n, k)
	case first.key == k:
		n.execution = first
	default:
		n.execution = e.child(first.place(), k)
	}
	n.era = e.era
	return n.execution
}

// scope returns the outermost region that a node lies in, or the root.
func (e *Engine) scope(n *node) *node {
	for n != e.root && n.parent != e.root {
		n = n.parent
	}
	if c := n.key.Construct; creates(c) || isExecution(c) {
		return e.root
	}
	return n
}

// creator returns the innermost execution that a node lies in, nil if none.
func (n *node) creator() *node {
	for ; n != nil; n = n.parent {
		if isExecution(n.key.Construct) {
			return n
		}
	}
	return nil
}

// entered returns the outermost execution on a path that belongs to a task's group, nil if none.
func (n *node) entered(k Key, c *creations[Key]) (first *node) {
	for ; n != nil; n = n.parent {
		if isExecution(n.key.Construct) && c.same(n.key, k) {
			first = n
		}
	}
	return first
}

// place returns the node at which the task of an execution was created.
func (n *node) place() *node {
	if p := n.parent; creates(p.key.Construct) && executionKey(p.key) == n.key {
		return p.parent
	}
	return n.parent
}

// folder folds the profile's tree, whose nodes are places. It moves executions that were created
// before their group was known, and those whose group shows only by their places.
type folder struct {
	*builder
	creations *creations[int] // by region
	path      []*built        // from the root to the current node
}

// fold folds the tree, then hangs folded executions below the creations that lead to them.
func (b *builder) fold(root *built) {
	known := map[*built]*creations[int]{}
	note := func(n *node) {
		if n.creations == nil {
			return
		}
		at := b.placed[n]
		if known[at] == nil {
			known[at] = newCreations[int]()
		}
		for by, list := range n.creations.by {
			for _, k := range list {
				known[at].add(b.regionOfKey(by), b.regionOfKey(k))
			}
		}
	}
	note(b.engine.root)
	for _, n := range b.engine.root.children {
		note(n)
	}
	for at, c := range known {
		f := folder{b, c, nil}
		if at != root {
			f.path = append(f.path, root)
		}
		for f.fold(at) {
		}
		f.hang(at)
	}
}

// fold moves executions to the places where their groups were entered. It tells whether any moved.
func (f *folder) fold(n *built) (any bool) {
	f.path = append(f.path, n)
	for _, c := range f.within(n) {
		i := -1
		if f.isExecution(c) {
			i = slices.IndexFunc(f.path, func(up *built) bool { return f.isExecution(up) && f.creations.same(up.region, c.region) })
		}
		if i < 0 {
			any = f.fold(c) || any
			continue
		}
		to := f.path[i]
		if to.region != c.region {
			place := f.path[i-1]
			if f.created(place) == to.region {
				place = f.path[i-2]
			}
			to = place.child(c)
		}
		n.children = slices.DeleteFunc(n.children, func(x *built) bool { return x == c })
		absorb(to, c)
		any = true
	}
	f.path = f.path[:len(f.path)-1]
	return any
}

// hang hangs the executions of groups entered at a node below creations: first below those at the
// node itself, then below those inside the executions that these lead to.
func (f *folder) hang(n *built) {
	var creating []*built
	for _, c := range f.within(n) {
		if f.created(c) >= 0 {
			creating = append(creating, c)
		}
	}
	for slices.SortFunc(creating, f.inOrder); len(creating) > 0; {
		var next []*built
		for _, c := range creating {
			r := f.created(c)
			i := slices.IndexFunc(n.children, func(x *built) bool { return x.region == r })
			if i >= 0 && f.creations.group[r] != 0 {
				x := n.children[i]
				n.children = slices.Delete(n.children, i, i+1)
				absorb(c.child(x), x)
			}
			if i := slices.IndexFunc(c.children, func(x *built) bool { return x.region == r }); i >= 0 {
				next = append(next, f.creatingIn(c.children[i])...)
			}
		}
		creating = next
	}
	for _, c := range f.within(n) {
		f.hang(c)
	}
}

// within returns a node's children. Of the root's children it leaves out outermost regions.
func (f *folder) within(n *built) []*built {
	return slices.DeleteFunc(slices.Clone(n.children), func(c *built) bool {
		return n.region < 0 && f.created(c) < 0 && !f.isExecution(c)
	})
}

// creatingIn returns the places at which an execution creates tasks of its group, the nearest
// first.
func (f *folder) creatingIn(x *built) (out []*built) {
	for level := []*built{x}; len(level) > 0; {
		var next []*built
		for _, n := range level {
			for _, c := range n.children {
				if !f.isExecution(c) {
					next = append(next, c)
				}
			}
		}
		slices.SortStableFunc(next, f.inOrder)
		for _, c := range next {
			if r := f.created(c); r >= 0 && f.creations.same(r, x.region) {
				out = append(out, c)
			}
		}
		level = next
	}
	return out
}

func (f *folder) inOrder(a, c *built) int { return inOrder(&f.regions[a.region], &f.regions[c.region]) }

func (f *folder) isExecution(n *built) bool {
	return n.region >= 0 && isExecution(f.regions[n.region].Construct)
}

// created returns the region of the executions of the tasks that a node creates, or -1.
func (f *folder) created(n *built) int {
	if n.region < 0 || !creates(n.key.Construct) {
		return -1
	}
	return f.regionOfKey(executionKey(n.key))
}

// child returns the child of the same region as another node, and adds it if there is none.
func (n *built) child(like *built) *built {
	for _, c := range n.children {
		if c.region == like.region {
			return c
		}
	}
	c := &built{region: like.region, key: like.key}
	n.children = append(n.children, c)
	return c
}
