package probestest

import (
	"math/rand"
	"testing"

	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// CheckTasks checks that the points of any runtime's tasks are places for probes. By random walks
// through the functions, it checks that they are hit as often as they should be.
func CheckTasks(t *testing.T, o *symbols.Object, p probes.TaskPoints) {
	t.Helper()
	all := append(append(append([]callgraph.Point{}, p.Created...), p.Begin...), p.End...)
	for _, exits := range p.Exits {
		all = append(all, exits...)
	}
	for _, x := range all {
		lo, _, _ := o.FuncRange(x.VAddr)
		body, _ := disasm.Func(o, lo)
		found := false
		for _, i := range body {
			if i.Addr != x.VAddr {
				continue
			}
			found = true
			zero := i.Control == disasm.Jcc && (i.Cond == disasm.Equal || i.Cond == disasm.NotEqual)
			if i.Refused || points.CostOf(i) != x.Cost || x.When != points.Always && !zero {
				t.Errorf("%+v is %s", x, i)
			}
		}
		if !found {
			t.Errorf("%+v is no instruction of its function", x)
		}
	}
	for name, exits := range p.Exits {
		for _, entry := range o.Symbol(name) {
			walkRandomly(t, o, name, entry, p, exits)
		}
	}
	seen := map[string]bool{}
	for _, x := range p.Begin {
		if _, isEntry := p.Exits[x.In]; !isEntry && !seen[x.In] {
			seen[x.In] = true
			lo, _, _ := o.FuncRange(x.VAddr)
			walkRandomly(t, o, x.In, lo, p, nil)
		}
	}
}

// walkRandomly goes through a function again and again, each conditional jump either way. It checks
// that an end follows each task's begin before anything else of a task, and that each way out hits
// one exit.
func walkRandomly(t *testing.T, o *symbols.Object, name string, entry uint64, p probes.TaskPoints, exits []callgraph.Point) {
	t.Helper()
	const walks = 300
	w := walker{o: o, graph: callgraph.New(o), random: rand.New(rand.NewSource(int64(entry))), exits: exits,
		events: map[uint64]map[string]points.When{}}
	w.note("begin", p.Begin)
	w.note("end", p.End)
	w.note("exit", exits)
	complete := 0
	for range walks {
		hit, done := w.walk(t, entry)
		open, left := false, 0
		for _, kind := range hit {
			switch {
			case kind == "begin" && !open:
				open = true
			case kind == "end":
				open = false // also of an offloaded task, which has no begin
			case kind == "exit" && !open:
				left++
			default:
				t.Fatalf("%s: a way through it is %v", name, hit)
			}
		}
		if done {
			complete++
			if exits != nil && left != 1 || open {
				t.Fatalf("%s: a way out of it is %v", name, hit)
			}
		}
	}
	if complete < walks/20 {
		t.Errorf("%s: only %d of %d walks came to an end", name, complete, walks)
	}
}

// walker walks through functions.
type walker struct {
	o      *symbols.Object
	graph  *callgraph.Graph
	random *rand.Rand
	exits  []callgraph.Point
	events map[uint64]map[string]points.When // by address and kind
}

// note notes the points of a kind.
func (w *walker) note(kind string, found []callgraph.Point) {
	for _, x := range found {
		if w.events[x.VAddr] == nil {
			w.events[x.VAddr] = map[string]points.When{}
		}
		w.events[x.VAddr][kind] = x.When
	}
}

// walk goes through a function once, and returns the kinds of the points that were hit. done tells
// whether it came to an end.
func (w *walker) walk(t *testing.T, entry uint64) (hit []string, done bool) {
	t.Helper()
	const farthest = 4000
	at := map[uint64]disasm.Inst{}
	f := w.read(t, entry, at)
	next := entry
	for steps := 0; !done && steps < farthest; steps++ {
		i, ok := at[next]
		if !ok {
			break // behind a call that does not return
		}
		taken := i.Control == disasm.Jump || i.Control == disasm.Jcc && w.random.Intn(2) == 0
		for kind, when := range w.events[i.Addr] {
			if when == points.Always || (when == points.ZeroSet) == ((i.Cond == disasm.Equal) == taken) {
				hit = append(hit, kind)
			}
		}
		next = i.Next()
		switch {
		case taken && f.Flow.Leaves(i):
			lo := w.graph.Resolve(i.Target)
			if done = !w.exitsIn(lo); !done {
				f = w.read(t, lo, at)
				next = lo
			}
		case taken:
			next = i.Target
		case i.Ends():
			done = true
		}
	}
	return hit, done
}

// read reads a function, and adds its instructions to at.
func (w *walker) read(t *testing.T, entry uint64, at map[uint64]disasm.Inst) *callgraph.Function {
	t.Helper()
	f, err := w.graph.Read(entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range f.Parts {
		for _, i := range part {
			at[i.Addr] = i
		}
	}
	return f
}

// exitsIn tells whether exits lie in the function that begins at an address.
func (w *walker) exitsIn(entry uint64) bool {
	for _, x := range w.exits {
		if lo, _, _ := w.o.FuncRange(x.VAddr); lo == entry {
			return true
		}
	}
	return false
}
