package tree

import (
	"ompp-attach/attribution/place"
	"ompp-attach/event"
)

// Tree is the call-path tree of a process while its events are read.
type Tree struct {
	Root    *Node
	Answers *place.Answers
	// Grows whenever groups of tasks change: the execution nodes found before may be outdated.
	era uint32
}

// New returns an empty tree whose questions r answers.
func New(r place.Resolver) *Tree { return &Tree{Root: &Node{}, Answers: place.NewAnswers(r)} }

// Child returns the child of a node, and adds it if there is none.
func (t *Tree) Child(n *Node, k place.Key) *Node {
	// Programs repeat their constructs in the same order. So the child is mostly the last one
	// asked for, or the next.
	for i := n.last; i < len(n.Children); i++ {
		if c := n.Children[i]; c.Key == k {
			n.last = i
			return c
		}
	}
	for i, c := range n.Children[:min(n.last, len(n.Children))] {
		if c.Key == k {
			n.last = i
			return c
		}
	}
	t.Answers.Seen(k)
	c := &Node{Key: k, Parent: n}
	n.Children = append(n.Children, c)
	return c
}

// ExecutionKey returns the key of the executions of the tasks that a construct creates.
func ExecutionKey(k place.Key) place.Key {
	switch k.Construct {
	case event.UntiedTask:
		k.Construct = event.UntiedTaskExec
	case event.Task, event.TaskLoop:
		k.Construct = event.TaskExec
	default: // the creation of the task was lost
		k = place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.TaskExec, Runtime: k.Runtime}}
	}
	return k
}

// Execution returns the node for executions of the tasks created at a node.
func (t *Tree) Execution(n *Node) *Node {
	if n.execution != nil && n.era == t.era {
		return n.execution
	}
	k := ExecutionKey(n.Key)
	scope := t.scope(n)
	if scope.Creations == nil {
		scope.Creations = NewCreations[place.Key]()
	}
	if by := n.creator(); by != nil && scope.Creations.Add(by.Key, k) {
		t.era++
	}
	switch first := n.entered(k, scope.Creations); {
	case first == nil:
		n.execution = t.Child(n, k)
	case first.Key == k:
		n.execution = first
	default:
		n.execution = t.Child(first.createdAt(), k)
	}
	n.era = t.era
	return n.execution
}

// scope returns the outermost region that a node lies in, or the root.
func (t *Tree) scope(n *Node) *Node {
	for n != t.Root && n.Parent != t.Root {
		n = n.Parent
	}
	if c := n.Key.Construct; Creates(c) || IsExecution(c) {
		return t.Root
	}
	return n
}

// IsExecution tells whether a construct is the execution of a task.
func IsExecution(c event.Construct) bool { return c == event.TaskExec || c == event.UntiedTaskExec }

// Creates tells whether a construct creates tasks.
func Creates(c event.Construct) bool {
	return c == event.Task || c == event.UntiedTask || c == event.TaskLoop
}

// TaskConstructs returns the constructs for creating and for executing tied or untied tasks.
func TaskConstructs(untied bool) (create, execute event.Construct) {
	if untied {
		return event.UntiedTask, event.UntiedTaskExec
	}
	return event.Task, event.TaskExec
}
