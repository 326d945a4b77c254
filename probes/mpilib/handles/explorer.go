package handles

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// Bounds of an exploration. The accessors of Open MPI 4.1 and MPICH 4.0 take up
// to 79 instructions on a path with a result, and 357 on all paths.
const (
	maxPath  = 500
	maxTotal = 4000
	maxPaths = 200
	maxDepth = 6
	maxTries = 8
)

// explorer explores an accessor's paths.
type explorer struct {
	*arena
	o    *symbols.Object
	code *code
	// read, if not nil, reads a process's memory: then all values are numbers.
	read     func(addr uint64, n int) (uint64, error)
	bias     *node
	todo     []*state
	total    int
	unknowns []string        // by number: the function that made it unknown
	closed   map[uint64]bool // functions that are not followed
}

// path says how a path has ended: with a result, or with the error that stopped it.
type path struct {
	*state
	result   *node
	resisted error
}

// The ways in which a path ends.
var (
	errFailed   = errors.New("the accessor reports an error")
	errPaths    = errors.New("it has too many paths")
	errBranched = errors.New("the instruction is taken up again on several paths")
)

func newExplorer(o *symbols.Object, c *code) *explorer {
	m := &explorer{arena: newArena(), o: o, code: c, closed: map[uint64]bool{}}
	m.bias = m.leaf(opBase)
	if o.FixedAddresses() {
		m.bias = m.zero
	}
	return m
}

// explore follows the function at entry. It returns the paths that end with success, and those that
// could not be followed. If a path cannot be followed through a function, that function is skipped
// from then on, and its effects are unknown.
func (m *explorer) explore(entry uint64, arguments ...*node) (paths []path) {
	for range maxTries {
		paths = m.attempt(entry, arguments)
		last := len(paths) - 1
		if last < 0 || paths[last].resisted == nil || !m.close(paths[last].state) {
			return paths
		}
	}
	return paths
}

// close chooses a function that the next attempt does not follow, among the functions that a path
// is in. It chooses the outermost function that was not given a place for a result. If there is
// none, it chooses the innermost function. close returns false if the path is in no function.
func (m *explorer) close(s *state) bool {
	if len(s.calls) == 0 {
		return false
	}
	chosen := s.calls[len(s.calls)-1].callee
	if i := slices.IndexFunc(s.calls, func(f frame) bool { return !f.given }); i >= 0 {
		chosen = s.calls[i].callee
	}
	m.closed[chosen] = true
	return true
}

// attempt follows all paths, the shortest first, until one cannot be followed.
func (m *explorer) attempt(entry uint64, given []*node) (paths []path) {
	s := &state{pc: entry}
	for i := range s.regs {
		s.regs[i] = m.unknownOf("the caller")
	}
	for i, v := range given {
		s.regs[arguments[i]] = v
	}
	s.regs[rsp] = m.leaf(opStack)
	m.store(s, s.regs[rsp], m.leaf(opReturn), 8)
	m.todo, m.total = []*state{s}, 0
	for len(m.todo) > 0 {
		p := path{state: m.shortest()}
		p.result, p.resisted = m.run(p.state)
		if len(paths)+len(m.todo) >= maxPaths {
			p.resisted = errPaths
		}
		if errors.Is(p.resisted, errFailed) || errors.Is(p.resisted, errBranched) {
			continue
		}
		paths = append(paths, p)
		if p.resisted != nil {
			break
		}
	}
	return paths
}

func (m *explorer) shortest() *state {
	least := 0
	for i, s := range m.todo {
		if s.steps < m.todo[least].steps {
			least = i
		}
	}
	s := m.todo[least]
	m.todo[least] = m.todo[len(m.todo)-1]
	m.todo = m.todo[:len(m.todo)-1]
	return s
}

// run follows a path to its end or to the next branch.
func (m *explorer) run(s *state) (*node, error) {
	for ; s.steps < maxPath; s.steps++ {
		if m.total++; m.total > maxTotal {
			return nil, errPaths
		}
		in, err := m.code.at(s.pc)
		if err != nil {
			return nil, err
		}
		s.at, s.pc = s.pc, in.Next()
		done, err := m.stepX86(s, in)
		if err != nil {
			return nil, err
		}
		if done {
			return m.finish(s)
		}
	}
	return nil, fmt.Errorf("a path is longer than %d instructions", maxPath)
}

// finish looks at the accessor's returned value: MPI_SUCCESS is 0.
func (m *explorer) finish(s *state) (*node, error) {
	status, result := m.and(s.regs[rax], ones(4)), m.written(s, 0)
	switch in := s.domain(status); {
	case !in.contains(0):
		return nil, errFailed
	case len(in) == 1 && in[0].hi == 0:
	case result == nil: // it returns what the error handling has returned
		return nil, errFailed
	}
	if result != nil && result.deps&onUnknown != 0 {
		return nil, m.blamed(result)
	}
	return result, nil
}

// out returns the address that the accessor is given for its i-th result.
func (m *explorer) out(i int) *node { return m.node(opOut, nil, nil, uint64(i), all) }

// written returns the accessor's i-th result, nil if it has written none.
func (m *explorer) written(s *state, i int) *node {
	for _, st := range slices.Backward(s.stores) {
		if st.base == m.out(i) && st.off == 0 {
			return m.concrete(s, st.value)
		}
	}
	return nil
}

// concrete replaces n by a number if it can have only one value.
func (m *explorer) concrete(s *state, n *node) *node {
	if v, ok := s.known(n); ok {
		return m.konst(v)
	}
	return n
}

// branch makes a path for each of the sets in which n can lie. If only one is possible, it goes on
// at once and returns the set's index.
func (m *explorer) branch(s *state, n *node, sets ...ranges) (int, error) {
	left, last := []*state{}, 0
	var only fact
	in := s.domain(n)
	for i, set := range sets {
		set = in.and(set)
		if len(set) == 0 {
			continue
		}
		r, rs := m.reduce(n, set)
		if rs = s.domain(r).and(rs); len(rs) == 0 {
			continue
		}
		c := s.fork()
		c.assume(r, rs)
		c.pc = s.at
		left, last, only = append(left, c), i, fact{r, rs}
	}
	switch len(left) {
	case 0:
		return 0, errFailed // contradictory: no handle comes here
	case 1:
		s.assume(only.n, only.set)
		return last, nil
	}
	m.todo = append(m.todo, left...)
	return 0, errBranched
}

func (m *explorer) unknownOf(whose string) *node {
	m.unknowns = append(m.unknowns, whose)
	return m.unknown(len(m.unknowns) - 1)
}

// blamed returns the error that names the function which made a value unknown.
func (m *explorer) blamed(n *node) error {
	for ; n != nil; n = n.a {
		if n.b != nil && n.b.deps&onUnknown != 0 {
			n = n.b
		}
		if n.op == opUnknown {
			return fmt.Errorf("it depends on %s", m.unknowns[n.k])
		}
	}
	return errors.New("it depends on what cannot be followed")
}

func (m *explorer) store(s *state, addr, v *node, bytes int) {
	base, off := m.base(addr)
	s.stores = append(s.stores, store{base, off, bytes, m.and(v, ones(bytes))})
}

// load returns the value at an address. It is the value that the path has stored there. Otherwise
// it is the file's bytes if nothing changes them, and else an unknown of memory.
func (m *explorer) load(s *state, addr *node, bytes int) (*node, error) {
	addr, err := m.resolve(s, addr)
	if err != nil {
		return nil, err
	}
	base, off := m.base(addr)
	for _, st := range slices.Backward(s.stores) {
		if st.base != base || st.off+int64(st.bytes) <= off || off+int64(bytes) <= st.off {
			continue
		}
		if st.off <= off && off+int64(bytes) <= st.off+int64(st.bytes) {
			return m.and(m.shr(st.value, uint64(off-st.off)*8), ones(bytes)), nil
		}
		return m.and(m.unknownOf("a value written in parts"), ones(bytes)), nil
	}
	const page = 4096
	switch {
	case base == m.zero && uint64(off) < page, base == m.zero && m.bias != m.zero && m.read == nil:
		return nil, errFailed // through a null pointer, which an assertion has let through
	case m.read != nil && base == m.zero:
		v, err := m.read(uint64(off), bytes)
		return m.konst(v), err
	case base.op == opStack:
		return m.and(m.unknownOf("uninitialised memory"), ones(bytes)), nil
	case base == m.bias:
		if n, ok := m.constant(uint64(off), bytes); ok {
			return n, nil
		}
		if m.isStderr(uint64(off)) {
			return nil, errFailed
		}
	}
	return m.arena.load(addr, bytes), nil
}

// isStderr recognises a variable to which only code that reports errors refers. In stripped
// libraries that code has no name.
func (m *explorer) isStderr(vaddr uint64) bool {
	name, ok := m.o.GOT(vaddr)
	if !ok {
		name, ok = m.o.DataAt(vaddr)
	}
	return ok && name == "stderr"
}

// table is how many entries of a constant table are told apart, one path for each.
const table = 16

// resolve makes a number of the part of an address that selects an entry of a constant table. It
// makes one path for each entry.
func (m *explorer) resolve(s *state, addr *node) (*node, error) {
	ts, c := addr.split()
	index := -1
	for i, t := range ts {
		if v, ok := s.known(t.n); ok {
			ts[i].n = m.konst(v)
		} else if t.n != m.bias {
			if index >= 0 {
				return m.sum(ts, c), nil
			}
			index = i
		}
	}
	if index < 0 || ts[index].n.deps != onHandle {
		return m.sum(ts, c), nil
	}
	in := ts[index]
	var entries []ranges
	for _, r := range s.domain(in.n) {
		if r.hi-r.lo >= table {
			return m.sum(ts, c), nil
		}
		for i := range r.hi - r.lo + 1 {
			// Beyond the table: no valid handle selects that.
			if _, _, ok := m.o.Constant(c+in.k*(r.lo+i), 1); ok {
				entries = append(entries, single(r.lo+i))
			}
		}
	}
	if len(entries) == 0 || len(entries) > table {
		return m.sum(ts, c), nil
	}
	i, err := m.branch(s, in.n, entries...)
	if err != nil {
		return nil, err
	}
	ts[index].n = m.konst(entries[i][0].lo)
	return m.sum(ts, c), nil
}

// public matches names to which programs refer. The linker may have given such a variable a place
// in the program (a copy relocation). Only the slot tells that place.
var public = regexp.MustCompile(`^(ompi_mpi_|MPI_|mpi_|MPIR_F08_|mpif_)`)

func (m *explorer) constant(vaddr uint64, bytes int) (*node, bool) {
	if name, ok := m.o.GOT(vaddr); ok && bytes == 8 {
		target, known := m.o.Pointer(vaddr)
		if !known || public.MatchString(name) {
			return nil, false
		}
		return m.add(m.bias, m.konst(target)), true
	}
	v, relocated, ok := m.o.Constant(vaddr, bytes)
	if !ok {
		return nil, false
	}
	if relocated {
		return m.add(m.bias, m.konst(v)), true
	}
	return m.konst(v), true
}

// code decodes each instruction once.
type code struct {
	*symbols.Object
	page  uint64
	bytes []byte
	insts map[uint64]decoded
}

type decoded struct {
	disasm.Inst
	x86 x86asm.Inst
	err error
}

func newCode(o *symbols.Object) *code { return &code{Object: o, insts: map[uint64]decoded{}} }

// Read reads from the file, and keeps the last stretch that it has read.
func (c *code) Read(vaddr uint64, n int) []byte {
	const ahead = 1024
	if vaddr < c.page || vaddr+uint64(n) > c.page+uint64(len(c.bytes)) {
		c.page, c.bytes = vaddr, c.Object.Read(vaddr, max(n, ahead))
	}
	if at := vaddr - c.page; at < uint64(len(c.bytes)) {
		return c.bytes[at:min(at+uint64(n), uint64(len(c.bytes)))]
	}
	return nil
}

func (c *code) at(vaddr uint64) (decoded, error) {
	d, ok := c.insts[vaddr]
	if !ok {
		d.Inst, d.err = disasm.Decode(c, vaddr)
		if d.err == nil {
			d.x86, _ = d.X86()
		}
		c.insts[vaddr] = d
	}
	return d, d.err
}
