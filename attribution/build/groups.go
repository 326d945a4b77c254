package build

import (
	"slices"

	"ompp-attach/attribution/tree"
)

// Groups of recursive tasks (see tree.Creations). Tasks of several constructs may create each
// other, as the seven tasks of one recursive function do. Then the paths of creation would be all
// sequences of these tasks. Such tasks are a group. A path enters a group once. The creation path
// of an execution may already have an execution of its group. Then the later one stands at the
// place where the earlier one was created. In the end it hangs below the creation that leads to it
// in the fewest steps.

// grouper keeps the profile's tree, whose nodes are places, from growing with recursion. It moves
// two kinds of executions. The first were created before their group was known. The second show
// only by their places to which group they belong.
type grouper struct {
	*builder
	creations *tree.Creations[int] // by region
	path      []*built             // from the root to the current node
}

// group moves the executions of groups, then hangs them below the creations that lead to them.
func (b *builder) group(root *built) {
	known := map[*built]*tree.Creations[int]{}
	note := func(n *tree.Node) {
		if n.Creations == nil {
			return
		}
		at := b.placed[n]
		if known[at] == nil {
			known[at] = tree.NewCreations[int]()
		}
		for by, list := range n.Creations.By {
			for _, k := range list {
				known[at].Add(b.regionOfKey(by), b.regionOfKey(k))
			}
		}
	}
	note(b.in.Tree.Root)
	for _, n := range b.in.Tree.Root.Children {
		note(n)
	}
	for at, c := range known {
		f := grouper{b, c, nil}
		if at != root {
			f.path = append(f.path, root)
		}
		for f.move(at) {
		}
		f.hang(at)
	}
}

// move moves executions to the places where their groups were entered. It tells whether any moved.
func (f *grouper) move(n *built) (any bool) {
	f.path = append(f.path, n)
	for _, c := range f.within(n) {
		i := -1
		if f.isExecution(c) {
			i = slices.IndexFunc(f.path, func(up *built) bool { return f.isExecution(up) && f.creations.Same(up.region, c.region) })
		}
		if i < 0 {
			any = f.move(c) || any
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

// hang hangs the executions of groups entered at a node below creations. It first hangs them below
// those at the node itself, then below those inside the executions that these lead to.
func (f *grouper) hang(n *built) {
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
			if i >= 0 && f.creations.Group[r] != 0 {
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
func (f *grouper) within(n *built) []*built {
	return slices.DeleteFunc(slices.Clone(n.children), func(c *built) bool {
		return n.region < 0 && f.created(c) < 0 && !f.isExecution(c)
	})
}

// creatingIn returns the places at which an execution creates tasks of its group, the nearest
// first.
func (f *grouper) creatingIn(x *built) (out []*built) {
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
			if r := f.created(c); r >= 0 && f.creations.Same(r, x.region) {
				out = append(out, c)
			}
		}
		level = next
	}
	return out
}

func (f *grouper) inOrder(a, c *built) int {
	return inOrder(&f.regions[a.region].Region, &f.regions[c.region].Region)
}

func (f *grouper) isExecution(n *built) bool {
	return n.region >= 0 && tree.IsExecution(f.regions[n.region].Construct)
}

// created returns the region of the executions of the tasks that a node creates, or -1.
func (f *grouper) created(n *built) int {
	if n.region < 0 || !tree.Creates(n.key.Construct) {
		return -1
	}
	return f.regionOfKey(tree.ExecutionKey(n.key))
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
