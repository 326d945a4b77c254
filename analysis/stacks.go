package analysis

import (
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Step is one step of a sampled call path: a region or a function's frame. The index of the other
// one is -1.
type Step struct {
	Region int // in Profile.Regions
	Frame  int // in Profile.Frames
}

// Stacks returns, for each sample, the call path from the program to the thread's place, outermost
// step first. The path holds the user's functions, with each region before the code that it ran,
// and without the runtime's frames. A worker's path begins with the functions from which its team
// was started, as far as the primary thread's samples agree on them. If the thread was in the
// runtime, the runtime's entry point is the last step.
func Stacks(p *profile.Profile) [][]Step {
	s := newStacks(p)
	tails := make([]tail, len(p.Samples))
	for i := range p.Samples {
		tails[i] = s.tail(&p.Samples[i])
	}
	return s.splice(tails)
}

// kind says whose code a frame belongs to.
type kind uint8

const (
	user     kind = iota
	outlined      // the user's; a compiler made it a function of its own
	runtime       // an OpenMP runtime
	system        // the C library
)

type stacks struct {
	p     *profile.Profile
	kinds []kind
	same  func(int) int // maps frames that look the same to one of them
	paths map[int][]int // by node: the nodes on its path, outermost first
}

func newStacks(p *profile.Profile) *stacks {
	s := &stacks{p: p, same: sameFrames(p, profile.Frame.Shown), paths: map[int][]int{}}
	libraries := map[string]bool{}
	for _, r := range p.Meta.Runtimes {
		libraries[r.Path] = r.Path != p.Meta.Path
	}
	for i := range p.Frames {
		f := &p.Frames[i]
		k := user
		switch {
		case libraries[f.Object], ofRuntime(f.Function):
			k = runtime
		case isOutlined(f.Function):
			k = outlined
		case isSystem(f):
			k = system
		}
		s.kinds = append(s.kinds, k)
	}
	return s
}

// ofRuntime recognises the functions of a statically linked runtime.
func ofRuntime(function string) bool {
	for _, prefix := range []string{"GOMP_", "gomp_", "__kmp", "omp_", "ompc_", "kmp_"} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// isOutlined recognises functions that compilers made of the bodies of constructs.
func isOutlined(function string) bool {
	for _, mark := range []string{"._omp_fn", ".omp_outlined", "omp_task_entry"} {
		if strings.Contains(function, mark) {
			return true
		}
	}
	return false
}

// isSystem recognises the C library, which starts threads, and in which runtimes wait. In a static
// program, isSystem recognises the functions that start threads.
func isSystem(f *profile.Frame) bool {
	if profile.IsCLibrary(f.Object) {
		return true
	}
	switch f.Function {
	case "start_thread", "clone", "clone3", "__clone", "__clone3", "__GI___clone3", "_start", "__libc_start_main",
		"__libc_start_call_main", "__libc_start_main_impl":
		return true
	}
	return false
}

// path returns the nodes on the path to a node, outermost first.
func (s *stacks) path(node int) []int {
	if node <= 0 {
		return nil
	}
	out, known := s.paths[node]
	if !known {
		out = append(slices.Clone(s.path(s.p.Nodes[node].Parent)), node)
		s.paths[node] = out
	}
	return out
}

func (s *stacks) construct(node int) event.Construct {
	return s.p.Regions[s.p.Nodes[node].Region].Construct
}

// runsOutlined tells whether the runtime calls the construct's code as a function.
func runsOutlined(c event.Construct) bool {
	return c.IsParallel() || c.ExecutesTask()
}

// tail is the part of a call path that a thread's own stack shows. It begins with the region of
// node base, or with the program (0).
type tail struct {
	base  int
	cut   bool // the frames further out are not known
	steps []Step
	at    map[int]int // by node on the path: index in steps of the node's region
}

// segments cuts a stack at each place where the runtime calls the user's code. waits is the frame
// of the runtime call that the thread is in, or -1. started tells whether the runtime made the
// thread.
func (s *stacks) segments(stack []int) (out [][]int, waits int, started bool) {
	waits = -1
	var now []int // outermost first
	inRuntime, cuts := false, 0
	for i := len(stack) - 1; i >= 0; i-- {
		f := stack[i]
		switch k := s.kinds[f]; {
		case k == runtime || inRuntime && k == system: // the runtime waits in the C library
			if !inRuntime || s.p.Frames[waits].Function == "" && s.p.Frames[f].Function != "" && k == runtime {
				waits = f
			}
			inRuntime = true
		case inRuntime, k == outlined && len(now) > 0 && s.kinds[now[len(now)-1]] == user:
			if inRuntime = false; cuts == 0 {
				started = s.startsThread(now)
			}
			cuts++
			out, now, waits = append(out, now), []int{f}, -1
		default:
			now = append(now, f)
		}
	}
	if cuts == 0 {
		started = inRuntime && s.startsThread(now)
	}
	return append(out, now), waits, started
}

// startsThread tells whether the frames are only those that any started thread has.
func (s *stacks) startsThread(frames []int) bool {
	return !slices.ContainsFunc(frames, func(f int) bool { return s.kinds[f] != system })
}

// tail places the regions on a sample's path between the frames of its stack. Level 0 is the
// program. Each further level is a region whose code the runtime calls. Each level has one segment
// of the stack, and the innermost segment belongs to the innermost level.
func (s *stacks) tail(x *profile.Sample) tail {
	segments, waits, started := s.segments(x.Stack)
	nodes := s.path(x.Node)
	begins := []int{0} // index in nodes at which each level begins
	for i, n := range nodes {
		if runsOutlined(s.construct(n)) {
			begins = append(begins, i)
		}
	}
	frames := make([][]int, len(begins))
	from := 0 // the first level that the stack shows
	switch {
	case x.Cut:
	case started: // the first segment only starts the thread
		segments = segments[1:]
	default:
		frames[0], segments = s.fromMain(segments[0]), segments[1:]
	}
	if first := len(begins) - max(len(segments), 1); x.Cut || started {
		from = max(first, 0)
	}
	for i, seg := range segments {
		// Several segments share a level if regions are not known.
		level := max(len(begins)-len(segments)+i, 0)
		frames[level] = append(frames[level], seg...)
	}
	t := tail{at: map[int]int{}, cut: x.Cut}
	if from > 0 {
		t.base = nodes[begins[from]]
	}
	for level := from; level < len(begins); level++ {
		end := len(nodes)
		if level+1 < len(begins) {
			end = begins[level+1]
		}
		t.add(s, nodes[begins[level]:end], frames[level])
	}
	if waits >= 0 {
		t.steps = append(t.steps, Step{-1, waits})
	}
	return t
}

// add appends regions and the frames that ran in them. A region stands before the function that
// contains its directive, or before the remaining frames if none does.
func (t *tail) add(s *stacks, nodes, frames []int) {
	for i, n := range nodes {
		r := &s.p.Regions[s.p.Nodes[n].Region]
		if i > 0 || !runsOutlined(s.construct(n)) {
			at := slices.IndexFunc(frames, func(f int) bool { return holds(&s.p.Frames[f], &r.Location) })
			if at < 0 {
				at = 0
				// Created elsewhere: by another thread, or by this one before.
				if r.Construct.CreatesTask() {
					at = len(frames)
				}
			}
			for _, f := range frames[:at] {
				t.steps = append(t.steps, Step{-1, f})
			}
			frames = frames[at:]
		}
		t.at[n] = len(t.steps)
		t.steps = append(t.steps, Step{s.p.Nodes[n].Region, -1})
	}
	for _, f := range frames {
		t.steps = append(t.steps, Step{-1, f})
	}
}

// holds tells whether a frame's function is the function of a location.
func holds(f *profile.Frame, l *profile.Location) bool {
	if l.Function == "" {
		return l.Entry != 0 && f.Function == "" && f.Entry == l.Entry && f.Object == l.Object
	}
	return sourceFunction(f.Function) == l.Function
}

// sourceFunction returns the name of the function that an outlined function was made from.
func sourceFunction(name string) string {
	for _, mark := range []string{"._omp_fn", ".omp_outlined", "..omp_"} {
		name, _, _ = strings.Cut(name, mark)
	}
	return name
}

// fromMain drops the frames of the C library before main.
func (s *stacks) fromMain(frames []int) []int {
	if i := slices.IndexFunc(frames, func(f int) bool { return s.p.Frames[f].Function == "main" }); i >= 0 {
		return frames[i:]
	}
	return frames
}

// splice puts the known path to its base before each tail.
func (s *stacks) splice(tails []tail) [][]Step {
	through := map[int][]int{} // by node: the samples whose tails contain the node
	for i := range tails {
		for n := range tails[i].at {
			through[n] = append(through[n], i)
		}
	}
	prefix := map[int][]Step{} // by node: the known path to it
	var bases []int
	for i := range tails {
		if b := tails[i].base; b != 0 && !slices.Contains(bases, b) {
			bases = append(bases, b)
		}
	}
	slices.Sort(bases) // a parent precedes its children
	for _, b := range bases {
		prefix[b] = s.prefix(b, through[b], tails, prefix)
	}
	out := make([][]Step, len(tails))
	for i, t := range tails {
		out[i] = slices.Concat(prefix[t.base], t.steps)
	}
	return out
}

// stray is the share of samples below which a path is ignored: a sample taken while the kernel
// executes a probed instruction may have a garbled stack.
const stray = 0.05

// prefix returns the path on which the starting threads came to a node. If they came on several
// paths, it is the part that these have in common, continued by the regions alone.
func (s *stacks) prefix(node int, samples []int, tails []tail, known map[int][]Step) []Step {
	type way struct {
		steps []Step
		count uint64
	}
	var ways []way
	all := uint64(0)
	for _, i := range samples {
		t := &tails[i]
		if t.base == node || t.cut {
			continue
		}
		steps := slices.Concat(known[t.base], t.steps[:t.at[node]])
		for i := range steps {
			steps[i].Frame = s.same(steps[i].Frame)
		}
		at := slices.IndexFunc(ways, func(w way) bool { return slices.Equal(w.steps, steps) })
		if at < 0 {
			at = len(ways)
			ways = append(ways, way{steps: steps})
		}
		ways[at].count += s.p.Samples[i].Count
		all += s.p.Samples[i].Count
	}
	ways = slices.DeleteFunc(ways, func(w way) bool { return float64(w.count) < stray*float64(all) })
	switch len(ways) {
	case 0:
		return s.regionsTo(node, nil)
	case 1:
		return ways[0].steps
	}
	common := ways[0].steps
	for _, w := range ways[1:] {
		n := 0
		for n < min(len(common), len(w.steps)) && common[n] == w.steps[n] {
			n++
		}
		common = common[:n]
	}
	return s.regionsTo(node, common)
}

// regionsTo continues a path to a node by the regions alone.
func (s *stacks) regionsTo(node int, way []Step) []Step {
	path := s.path(s.p.Nodes[node].Parent)
	for _, step := range way {
		if step.Region >= 0 {
			path = path[1:]
		}
	}
	way = slices.Clone(way)
	for _, n := range path {
		way = append(way, Step{s.p.Nodes[n].Region, -1})
	}
	return way
}
