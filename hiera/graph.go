package hiera

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Graph joins operations that belong together: a send and its receive, the parts of a collective
// operation. Vertices are numbered by process, and within a process in the order of their
// beginning. The first vertex of a process stands for the process.
type Graph struct {
	vertices []vertex
	waiting  map[channel]*queue
	rounds   map[round][]int32
	counts   map[member]int
	process  int // rank of the process that is being added
	names    []string
	numbers  map[string]int32 // index in names
}

// vertex is an operation, or a process.
type vertex struct {
	partners []int32
	name     int32 // index in Graph.names; -1: a process
	// part: of a collective operation, and not its root. Such a vertex has no partners.
	part bool
}

// channel is a sequence of messages that arrive in order.
type channel struct {
	from, to, tag int
}

// queue holds messages of which only one side was seen.
type queue struct {
	sent     []int32
	received []int32
}

// round is a collective operation: the n-th of the communicator.
type round struct {
	comm string
	n    int
}

// member is a process in a communicator.
type member struct {
	comm string
	rank int
}

// MaxVertices bounds a graph: it lies in memory.
const MaxVertices = 1 << 23

// NewGraph returns an empty graph.
func NewGraph() *Graph {
	return &Graph{waiting: map[channel]*queue{}, rounds: map[round][]int32{}, counts: map[member]int{}, numbers: map[string]int32{}}
}

// Process begins a process. Its operations follow.
func (g *Graph) Process(rank int) {
	g.process = rank
	g.vertices = append(g.vertices, vertex{name: -1})
}

// Add adds an operation of the process. Only operations in MPI_COMM_WORLD, or whose partners' ranks
// there are known, are joined with others.
func (g *Graph) Add(op *Op) {
	v := int32(len(g.vertices))
	n, ok := g.numbers[op.Name]
	if !ok {
		n = int32(len(g.names))
		g.numbers[op.Name], g.names = n, append(g.names, op.Name)
	}
	g.vertices = append(g.vertices, vertex{name: n})
	if op.Category != MPI || op.Executions != 1 {
		return
	}
	to, from := op.Partners()
	if to >= 0 {
		g.message(v, channel{g.process, to, op.Tag}, true)
	}
	if from >= 0 {
		g.message(v, channel{from, g.process, op.Tag}, false)
	}
	if to == Unknown && from == Unknown && op.Comm == World && collective[op.Name] {
		g.collective(v, op)
	}
}

// collective holds the operations in which all processes of a communicator take part.
var collective = func() map[string]bool {
	all := map[string]bool{}
	for _, n := range []string{"allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "broadcast",
		"comm_create", "comm_dup", "comm_split", "exscan", "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block",
		"scan", "scatter", "scatterv"} {
		all[n] = true
	}
	return all
}()

func (g *Graph) join(a, b int32) {
	g.vertices[a].partners = append(g.vertices[a].partners, b)
	g.vertices[b].partners = append(g.vertices[b].partners, a)
}

// message joins a vertex with the other side of the message, or lets it wait.
func (g *Graph) message(v int32, c channel, sends bool) {
	q := g.waiting[c]
	if q == nil {
		q = &queue{}
		g.waiting[c] = q
	}
	mine, others := &q.sent, &q.received
	if !sends {
		mine, others = others, mine
	}
	if len(*others) == 0 {
		*mine = append(*mine, v)
		return
	}
	g.join((*others)[0], v)
	*others = (*others)[1:]
}

// collective notes that a process takes part in a collective operation. Its root is the vertex that
// has partners; of an operation without a root it is the process of lowest rank.
func (g *Graph) collective(v int32, op *Op) {
	m := member{op.Comm, g.process}
	r := round{op.Comm, g.counts[m]}
	g.counts[m]++
	parts := g.rounds[r]
	isRoot := op.Root == g.process || op.Root == Unknown && len(parts) == 0
	g.vertices[v].part = !isRoot
	if isRoot {
		parts = slices.Insert(parts, 0, v)
	} else {
		parts = append(parts, v)
	}
	g.rounds[r] = parts
}

// Join completes the graph when all processes have been added.
func (g *Graph) Join() {
	for _, parts := range g.rounds {
		root := parts[0]
		if g.vertices[root].part {
			continue // the root's process was not added
		}
		g.vertices[root].partners = append(g.vertices[root].partners, parts[1:]...)
	}
	for i := range g.vertices {
		slices.SortFunc(g.vertices[i].partners, cmp.Compare)
	}
	g.rounds, g.counts, g.waiting = nil, nil, nil
}

// Len returns the number of vertices: operations and processes.
func (g *Graph) Len() int { return len(g.vertices) }

// Full reports whether no further operations should be added.
func (g *Graph) Full() bool { return len(g.vertices) >= MaxVertices }

// Edges returns the number of pairs of operations that belong together.
func (g *Graph) Edges() (n int) {
	for i := range g.vertices {
		for _, p := range g.vertices[i].partners {
			if int(p) > i || g.vertices[p].part {
				n++
			}
		}
	}
	return n
}

// Related says how often an operation was found to belong together with another one.
type Related struct {
	Operation, Partner string
	Count              uint64
}

// Related counts, on the walk by partner, the partners of each operation, ordered by name.
func (g *Graph) Related() (all []Related) {
	type pair struct{ of, with int32 }
	counts := map[pair]uint64{}
	for i := range g.vertices {
		for _, p := range g.vertices[i].partners {
			counts[pair{g.vertices[i].name, g.vertices[p].name}]++
		}
	}
	for p, n := range counts {
		all = append(all, Related{g.names[p.of], g.names[p.with], n})
	}
	slices.SortFunc(all, func(a, b Related) int {
		return cmp.Or(strings.Compare(a.Operation, b.Operation), strings.Compare(a.Partner, b.Partner))
	})
	return all
}

// ByOperation walks from operation to operation: each vertex once, process after process (Fig. 3 of
// the paper).
func (g *Graph) ByOperation() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range g.vertices {
			if !yield(i) {
				return
			}
		}
	}
}

// ByPartner walks from each operation to its partners, before it goes on to the next operation of
// the process (Fig. 4). Of a collective operation only the root has partners.
func (g *Graph) ByPartner() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range g.vertices {
			if !yield(i) {
				return
			}
			for _, p := range g.vertices[i].partners {
				if !yield(int(p)) {
					return
				}
			}
		}
	}
}
