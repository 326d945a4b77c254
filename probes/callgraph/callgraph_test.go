package callgraph

import (
	"encoding/binary"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// The calls in program are known. top calls mid and leaf, mid calls leaf, and tail jumps to leaf.
// even and odd call each other. through and twice call pointers. alone calls nobody.
const program = `
#define F __attribute__((noinline, noclone, noipa, used)) int
F leaf(int x) { return x + 1; }
F mid(int x) { return leaf(x) * 2; }
F top(int x) { return mid(x) + leaf(x); }
F alone(int x) { return x - 1; }
F odd(int x);
F even(int x) { return x ? odd(x - 1) + 1 : 0; }
F odd(int x) { return x ? even(x - 1) + 1 : 0; }
F through(int (*f)(int), int x) { return f(x) + 1; }
F twice(int (**f)(int), int x) { return f[0](x) + f[1](x); }
F tail(int x);
__asm__(".text\n.globl tail\n.type tail, @function\ntail: addl $3, %edi\n.byte 0xe9\n.long leaf - . - 4\n.size tail, .-tail\n");
int main(int argc, char **argv) { (void)argv; return top(argc) + even(argc) + tail(argc) == alone(0); }
`

type read struct {
	*Graph
	t *testing.T
}

func newRead(t *testing.T) read { return readOf(t, program) }

func readOf(t *testing.T, program string) read {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the program has code for x86-64")
	}
	src := testbin.Source(t, "calls.c", program)
	o, err := symbols.OpenObject(testbin.BuildFile(t, src, testbin.Options{NoOpenMP: true, Flags: []string{"-O1"}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Forget(o); o.Close() })
	return read{New(o), t}
}

func (r read) at(name string) uint64 {
	r.t.Helper()
	all := r.Object.Symbol(name)
	if len(all) != 1 {
		r.t.Fatalf("%d functions %s", len(all), name)
	}
	return all[0]
}

// neighbours has functions that jump to the next or the one before by two bytes: by jmp, jcc, jrcxz
// and loop. quiet has the bytes of such a jump inside another instruction, and jumps within itself.
const neighbours = `
#define F(name, code) __asm__(".text\n.type " #name ", @function\n" #name ": " code "ret\n.size " #name ", .-" #name "\n");
F(first, "jmp second\n")
F(second, "incl %eax\n")
F(third, "testl %eax, %eax\nje second\n")
F(fourth, "jrcxz third\n")
F(fifth, "loop sixth\n")
F(sixth, "1: decl %eax\njne 1b\n")
F(quiet, "movl $0x00eb00eb, %eax\n.byte 0xb8, 0xeb, 0xf2, 0x75, 0xf0\n1: decl %eax\njne 1b\n")
F(last, "incl %eax\n")
int main(void) { return 0; }
`

// A jump of two bytes to a neighbour is found, and bytes that only look like one are not.
func TestShortJumps(t *testing.T) {
	r := readOf(t, neighbours)
	want := map[string]string{"second": "first third", "third": "fourth", "sixth": "fifth"}
	names := []string{"first", "second", "third", "fourth", "fifth", "sixth", "quiet", "last"}
	for _, name := range names {
		var from []string
		for _, other := range names {
			if other != name && r.Reaching([]uint64{r.at(name)}, 1)[r.at(other)] {
				from = append(from, other)
			}
		}
		if got := strings.Join(from, " "); got != want[name] {
			t.Errorf("%s is reached from %q, want %q", name, got, want[name])
		}
	}
	// Depth 0 is second itself; depth 1 adds first and third, depth 2 fourth.
	for depth, want := range map[int]int{0: 1, 1: 3, 2: 4, AnyDepth: 4} {
		if got := r.Reaching([]uint64{r.at("second")}, depth); len(got) != want {
			t.Errorf("%d functions reach second by %d jumps, want %d", len(got), depth, want)
		}
	}
}

// The places to which each branch of arm64 leads.
func TestBranchSitesARM64(t *testing.T) {
	const base = 0x10000
	for name, c := range map[string]struct {
		word   uint32
		target uint64 // 0: no branch
	}{
		"bl +8":          {0x94000002, base + 8},
		"b -4":           {0x17ffffff, base - 4},
		"b.eq +8":        {0x54000040, base + 8},
		"cbz x1, -8":     {0xb4ffffc1, base - 8},
		"tbz w0, 3, +8":  {0x36180040, base + 8},
		"tbnz x2, 40,-4": {0xb747ffe2, base - 4},
		"add x0, x0, 1":  {0x91000400, 0},
		"ret":            {0xd65f03c0, 0},
	} {
		var got uint64
		branchSites("arm64", binary.LittleEndian.AppendUint32(nil, c.word), base, func(_, target uint64) { got = target })
		if got != c.target {
			t.Errorf("%s leads to %#x, want %#x", name, got, c.target)
		}
	}
}

// among names those of the program's functions that are in a set.
func (r read) among(set map[uint64]bool) (names []string) {
	for _, name := range []string{"alone", "even", "leaf", "main", "mid", "odd", "tail", "through", "top", "twice"} {
		if set[r.at(name)] {
			names = append(names, name)
		}
	}
	return names
}

// Who may reach a function, and whom a function may reach, in so many calls or jumps.
func TestReach(t *testing.T) {
	r := newRead(t)
	for _, tc := range []struct {
		target string
		depth  int
		want   []string
	}{
		{"leaf", 0, []string{"leaf"}},
		{"leaf", 1, []string{"leaf", "mid", "tail", "top"}},
		{"leaf", AnyDepth, []string{"leaf", "main", "mid", "tail", "top"}},
		{"even", AnyDepth, []string{"even", "main", "odd"}},
		{"alone", 1, []string{"alone", "main"}},
		{"through", AnyDepth, []string{"through"}},
	} {
		if got := r.among(r.Reaching([]uint64{r.at(tc.target)}, tc.depth)); !slices.Equal(got, tc.want) {
			t.Errorf("%d calls to %s: from %q, want %q", tc.depth, tc.target, got, tc.want)
		}
	}
	for _, tc := range []struct {
		from  string
		depth int
		want  []string
	}{
		{"top", 0, []string{"top"}},
		{"main", 1, []string{"alone", "even", "main", "tail", "top"}},
		{"main", 2, []string{"alone", "even", "leaf", "main", "mid", "odd", "tail", "top"}},
		{"odd", 9, []string{"even", "odd"}},
		{"tail", 1, []string{"leaf", "tail"}},
	} {
		found := map[uint64]bool{}
		for _, f := range r.Reachable([]uint64{r.at(tc.from)}, tc.depth) {
			found[f] = true
		}
		if got := r.among(found); !slices.Equal(got, tc.want) {
			t.Errorf("%d calls from %s: to %q, want %q", tc.depth, tc.from, got, tc.want)
		}
	}
}

func TestPointerCallers(t *testing.T) {
	r := newRead(t)
	var all []uint64
	for _, name := range []string{"leaf", "through", "top", "twice", "alone"} {
		all = append(all, r.at(name))
	}
	want := []uint64{r.at("through"), r.at("twice")}
	if got := r.PointerCallers(all); !slices.Equal(got, want) {
		t.Errorf("calls of pointers in %#x, want %#x", got, want)
	}
	for name, n := range map[string]int{"through": 1, "twice": 2, "top": 0} {
		if got := r.PointerCalls(r.at(name)); len(got) != n {
			t.Errorf("%s calls %d pointers, want %d", name, len(got), n)
		}
	}
	if name := r.NameOf(r.at("twice")); name != "twice" {
		t.Errorf("twice is named %s", name)
	}
}

// Direct calls are found each, in the function that makes it; a jump is told as what may be a call.
func TestCallsOf(t *testing.T) {
	r := newRead(t)
	calls, skipped, err := CallsOf(r.Object, "leaf")
	if err != nil {
		t.Fatal(err)
	}
	callers := map[string]int{}
	for _, c := range calls {
		name, _, _ := r.Object.FuncAt(c.Addr)
		callers[name]++
	}
	if !maps.Equal(callers, map[string]int{"mid": 1, "top": 1}) {
		t.Errorf("leaf is called in %v", callers)
	}
	if len(skipped) != 1 || r.Resolve(skipped[0]) != r.at("tail") {
		t.Errorf("not confirmed as calls: %#x, want the jump in tail", skipped)
	}
	if calls, _, err := CallsOf(r.Object, "through"); err == nil {
		t.Errorf("%d calls of a function that nobody calls", len(calls))
	}
}

// A function's exit lies behind all calls that run user code. A jump to another function is an
// exit, or leads to the other's.
func TestExits(t *testing.T) {
	r := newRead(t)
	leaf := map[uint64]bool{r.at("leaf"): true}
	for _, name := range []string{"mid", "top"} {
		calls, _, err := CallsOf(r.Object, "leaf")
		if err != nil {
			t.Fatal(err)
		}
		points, err := r.Exits(r.at(name), leaf, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range points {
			if in, _, _ := r.Object.FuncAt(p.VAddr); in != name || p.In != name {
				t.Errorf("an exit of %s is in %s, and says %s", name, in, p.In)
			}
			for _, c := range calls {
				if r.Resolve(c.Addr) == r.at(name) && p.VAddr < c.Next() {
					t.Errorf("the exit of %s at %#x is before the call at %#x", name, p.VAddr, c.Addr)
				}
			}
		}
		if len(points) != 1 {
			t.Errorf("%s, which has one way, has %d exits", name, len(points))
		}
	}
	own, err := r.Exits(r.at("tail"), nil, nil)
	if err != nil || len(own) != 1 || own[0].In != "tail" {
		t.Errorf("exits of tail: %+v, %v", own, err)
	}
	followed, err := r.Exits(r.at("tail"), nil, leaf)
	if err != nil || len(followed) != 1 || followed[0].In != "leaf" {
		t.Errorf("exits of tail, followed into leaf: %+v, %v", followed, err)
	}
	if found, err := Returns(r.Object, "top"); err != nil || len(found) == 0 {
		t.Errorf("returns of top: %v, %v", found, err)
	}
}
