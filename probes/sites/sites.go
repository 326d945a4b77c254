package sites

import (
	"fmt"
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// Entry tells whether a function of libomp begins or ends a static loop.
func Entry(name string) bool { return slices.Contains(entries, name) }

var entries = []string{fini, "__kmpc_for_static_init_4", "__kmpc_for_static_init_4u", "__kmpc_for_static_init_8",
	"__kmpc_for_static_init_8u", "__kmpc_dist_for_static_init_4", "__kmpc_dist_for_static_init_4u",
	"__kmpc_dist_for_static_init_8", "__kmpc_dist_for_static_init_8u"}

const (
	fini = "__kmpc_for_static_fini"
	fork = "__kmpc_fork_call"

	// Barrier must be probed where calls are spared: a barrier tells the end of the loop before it.
	Barrier = "__kmpc_barrier"
)

// Call is a call of an entry point, or a jump there at the end of a function.
type Call struct {
	disasm.Inst
	Entry string
	// EndsNext: the call begins a loop of which the thread's next event may tell the end.
	EndsNext bool
}

// Calls are the calls of static loops in a file's own code.
type Calls struct {
	// Wanted are the calls that need a probe.
	Wanted []Call
	// Spared is the number of calls that need no probe. They are calls of loops that are all of
	// their region, and ends of loops that the thread's next event tells, such as a barrier.
	Spared int
	// Open says why the file may make further calls; "": all are known.
	Open string

	ends  []end                  // that the thread's next event tells
	whole map[uint64]bool        // outlined functions of regions that are one loop
	lines map[symbols.Ident]bool // directives of such regions, without flags
}

// WantedWith returns the calls that need a probe if other probes sit at some instructions. They are
// the calls of Wanted, and some ends of loops. Behind such an end, another probe is hit before the
// event that would tell the loop's end. That probe may be one of a marker, of an atomic, or at the
// border of a function that was inlined.
func (c *Calls) WantedWith(others func(vaddr uint64) bool) []Call {
	all := slices.Clone(c.Wanted)
	for _, e := range c.ends {
		if slices.ContainsFunc(e.way, others) {
			all = append(all, e.Call)
		}
	}
	return all
}

// Whole tells whether an outlined function is the body of a region that is one static loop, by its
// address in the file.
func (c *Calls) Whole(function uint64) bool { return c.whole[function] }

// WholeAt tells whether an ident_t is that of a region that is one static loop.
func (c *Calls) WholeAt(id symbols.Ident) bool {
	id.Flags = 0
	return id.Line > 0 && c.lines[id]
}

var found symbols.Memo[*Calls]

// Of finds the calls in a file, once.
func Of(o *symbols.Object) *Calls { return found.Of(o, find) }

// find looks for all bytes that may lead to an entry point. Each must turn out to be a call, or a
// jump, in a function that can be decoded.
func find(o *symbols.Object) *Calls {
	c := &Calls{whole: map[uint64]bool{}, lines: map[symbols.Ident]bool{}}
	imported := slices.DeleteFunc(slices.Clone(entries), func(name string) bool { return !o.Imports(name) })
	if len(imported) == 0 {
		return c
	}
	if o.Arch() != "amd64" {
		c.Open = "calls are found on x86-64 only"
		return c
	}
	for _, name := range imported {
		if !o.OnlyCalled(name) {
			c.Open = name + " is called through a pointer or slot"
			return c
		}
	}
	stubs := o.Targets(imported...)
	refs := o.References(stubs)
	if at, ok := denoted(o, refs.Others, stubs); ok {
		c.Open = fmt.Sprintf("the code at %#x may take the address of a function", at)
		return c
	}
	fs, err := functionsOf(o, refs.Branches)
	if err != nil {
		c.Open = err.Error()
		return c
	}
	c.divide(o, fs)
	return c
}

// divide says of each call whether it needs a probe.
func (c *Calls) divide(o *symbols.Object, fs []*function) {
	regions, unknown := regionsOf(o, fs), mayCancel(o)
	for _, f := range fs {
		if id, ok := f.wholeOf(o, regions[f.lo]); ok {
			c.Spared += len(f.calls)
			c.whole[f.lo], c.lines[id] = true, true
			continue
		}
		if !unknown {
			f.tellByNext(o, len(regions[f.lo]) > 0)
		}
		for _, at := range f.calls {
			if f.told[at.Addr] {
				c.Spared++
				continue
			}
			at.EndsNext = f.next && begins(at.Entry)
			c.Wanted = append(c.Wanted, at)
		}
		c.ends = append(c.ends, f.ends...)
	}
}

// denoted looks for an instruction that holds the address of a target. bytes are addresses at which
// the bytes look like those of such an instruction. ok is true also if the code at one of these
// addresses cannot be read.
func denoted(o *symbols.Object, bytes []uint64, targets *symbols.Targets) (at uint64, ok bool) {
	for _, at := range bytes {
		body, err := disasm.Func(o, at)
		if err != nil {
			return at, true
		}
		k := slices.IndexFunc(body, func(i disasm.Inst) bool { return i.Addr <= at && at < i.Next() })
		if k < 0 || targets.Has(body[k].Ref) || targets.Has(body[k].Target) {
			return at, true
		}
	}
	return 0, false
}
