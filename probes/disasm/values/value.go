// Package values finds the values of a function's registers, as sums of arguments, loads and
// results of calls. Evaluate follows each path of a short function by itself; such a function tells
// the layout of a runtime's internal structures. Flow also takes large functions: where their paths
// meet, it merges the values.
package values

import (
	"fmt"
	"slices"

	"ompp-attach/probes/disasm"
)

// Origin says where an unknown of a Value comes from.
type Origin uint8

// The unknowns of which values are sums.
const (
	AnUnknown       Origin = iota
	AnArgument             // N is the argument's number
	AThreadPointer         // fs base, tpidr_el0
	ALoad                  // the N bytes at Addr, zero-extended
	AResult                // what the call at N returned
	AScaledRegister        // an array index times its element size
	AStack                 // the stack pointer at the function's entry (Flow only)
	// One of several values, known by the place N where they meet (Flow only).
	AJoin
)

// Atom is one unknown of a Value.
type Atom struct {
	Origin Origin
	N      uint64
	Addr   *Value

	depth int    // how deep loads are nested
	at    uint64 // the instruction of a load in a Flow
}

// Value is the sum of an offset and of unknowns (atoms), which a symbolic evaluation has found.
// Without atoms it is a constant or an address in the file.
type Value struct {
	Off   int64
	Atoms []Atom
}

// Const returns the value of a constant.
func (v Value) Const() (uint64, bool) { return uint64(v.Off), len(v.Atoms) == 0 }

// Is reports whether the value is exactly this one unknown.
func (v Value) Is(o Origin, n uint64) bool {
	return v.Off == 0 && len(v.Atoms) == 1 && v.Atoms[0].Origin == o && v.Atoms[0].N == n
}

// Loaded returns the address from which the value was loaded, if it is a load of exactly size
// bytes.
func (v Value) Loaded(size int) (from Value, ok bool) {
	if !v.Is(ALoad, uint64(size)) {
		return Value{}, false
	}
	return *v.Atoms[0].Addr, true
}

// FieldOf returns the object if the 8 bytes of the value were loaded from the object's field at
// offset off.
func (v Value) FieldOf(off int64) (object Value, ok bool) {
	at, ok := v.Loaded(8)
	at.Off -= off
	return at, ok && len(at.Atoms) > 0
}

// Without returns the value without its first atom of an origin, and that atom.
func (v Value) Without(o Origin) (rest Value, atom Atom, ok bool) {
	k := slices.IndexFunc(v.Atoms, func(a Atom) bool { return a.Origin == o })
	if k < 0 {
		return v, Atom{}, false
	}
	return Value{v.Off, slices.Delete(slices.Clone(v.Atoms), k, k+1)}, v.Atoms[k], true
}

func constant(n int64) Value { return Value{Off: n} }
func single(a Atom) Value    { return Value{Atoms: []Atom{a}} }

// maxAtoms bounds sums and maxDepth the nesting of loads, so that loops cannot
// build ever larger values; runtimes' accessors need 2 and 4.
const (
	maxAtoms = 4
	maxDepth = 8
)

func add(a, b Value) Value {
	if len(a.Atoms)+len(b.Atoms) > maxAtoms {
		return single(Atom{Origin: AnUnknown})
	}
	return Value{a.Off + b.Off, append(slices.Clone(a.Atoms), b.Atoms...)}
}

func load(from Value, size int, arch string) Value {
	// x86-64 keeps the thread pointer itself at %fs:0 (psABI, TLS variant II).
	if arch == "amd64" && from.Is(AThreadPointer, 0) && size == 8 {
		return from
	}
	depth := 1
	for _, a := range from.Atoms {
		depth = max(depth, a.depth+1)
	}
	if depth > maxDepth {
		return single(Atom{Origin: AnUnknown})
	}
	return single(Atom{Origin: ALoad, N: uint64(size), Addr: &from, depth: depth})
}

// State is the symbolic content of the general registers.
type State struct {
	arch  string
	regs  [32]Value
	slots []stackSlot // the values on the stack that Flow knows, by offset
}

// stackSlot is the value of 8 bytes on the stack. off counts from the entry's stack pointer.
type stackSlot struct {
	off int64
	v   Value
}

var argRegsX86 = [6]disasm.Reg{7, 6, 2, 1, 8, 9}

// Arg returns the value of integer argument n, from its register.
func (s *State) Arg(n int) Value {
	switch {
	case s.arch == "amd64" && n >= 0 && n < 6:
		return s.regs[argRegsX86[n]]
	case s.arch == "arm64" && n >= 0 && n < 8:
		return s.regs[n]
	}
	return single(Atom{Origin: AnUnknown})
}

// Result returns the value of the register that takes a function's result.
func (s *State) Result() Value { return s.regs[0] }

func newState(arch string) *State {
	s := &State{arch: arch}
	for r := range s.regs {
		s.regs[r] = single(Atom{Origin: AnUnknown})
	}
	for n := range uint64(8) {
		switch {
		case arch == "arm64":
			s.regs[n] = single(Atom{Origin: AnArgument, N: n})
		case n < 6:
			s.regs[argRegsX86[n]] = single(Atom{Origin: AnArgument, N: n})
		}
	}
	return s
}

func (s *State) value(a disasm.Address) Value {
	v := constant(a.Disp)
	if a.TP {
		v = add(v, single(Atom{Origin: AThreadPointer}))
	}
	if a.Base != disasm.NoReg {
		v = add(v, s.regs[a.Base&31])
	}
	switch {
	case a.Index == disasm.NoReg:
	case a.Scaled:
		v = add(v, single(Atom{Origin: AScaledRegister}))
	default:
		v = add(v, s.regs[a.Index&31])
	}
	return v
}

// calleeSaved are the registers that a call leaves unchanged.
var calleeSaved = map[string]uint32{
	"amd64": 1<<3 | 1<<4 | 1<<5 | 0xf<<12,
	"arm64": 0x7ff<<19 | 1<<31,
}

func (s *State) apply(i disasm.Inst) {
	m := i.Meaning
	var v Value
	switch m.Op {
	case disasm.MeansCall:
		for r := range s.regs {
			if calleeSaved[s.arch]>>r&1 == 0 {
				s.regs[r] = single(Atom{Origin: AnUnknown})
			}
		}
		s.regs[0] = single(Atom{Origin: AResult, N: i.Addr})
		return
	case disasm.MeansAddress:
		v = s.value(m.Addr)
	case disasm.MeansLoad:
		v = load(s.value(m.Addr), m.Size, s.arch)
	case disasm.MeansAddLoad:
		v = add(s.regs[m.Dst&31], load(s.value(m.Addr), m.Size, s.arch))
	case disasm.MeansThreadPointer:
		v = single(Atom{Origin: AThreadPointer})
	}
	for r := range s.regs {
		if m.Writes>>r&1 == 1 {
			s.regs[r] = single(Atom{Origin: AnUnknown})
		}
	}
	if m.Op != disasm.MeansNothing && m.Dst >= 0 {
		s.regs[m.Dst&31] = v
	}
}

// Bounds of an evaluation: accessors have some 20 instructions and 4 paths.
const (
	maxPaths = 64
	maxSteps = 256
)

// Evaluate runs the function at entry symbolically along all its paths, each loop once. It calls
// visit with every instruction and the registers before it; visit returns false to end the path
// there. Calls are stepped over, and jumps out of the function end the path. The error is Decode's,
// or says that the function is too large.
func Evaluate(code disasm.Code, entry uint64, visit func(i disasm.Inst, before *State) bool) error {
	lo, hi, ok := code.FuncRange(entry)
	if !ok || entry < lo || entry >= hi {
		return fmt.Errorf("no function is known at %#x", entry)
	}
	type path struct {
		at    uint64
		state *State
		steps int
		seen  map[uint64]bool // jump targets already taken
	}
	todo := []path{{entry, newState(code.Arch()), 0, map[uint64]bool{}}}
	for n := 0; len(todo) > 0; n++ {
		if n == maxPaths {
			return fmt.Errorf("function at %#x has more than %d paths", entry, maxPaths)
		}
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for ; p.at >= lo && p.at < hi; p.steps++ {
			if p.steps == maxSteps {
				return fmt.Errorf("function at %#x has a path of more than %d instructions", entry, maxSteps)
			}
			i, err := disasm.Decode(code, p.at)
			if err != nil {
				return err
			}
			if !visit(i, p.state) {
				break
			}
			p.state.apply(i)
			p.at = i.Next()
			if i.Control == disasm.Jcc || i.Control == disasm.Jump {
				if i.Control == disasm.Jcc && !p.seen[i.Target] {
					fork := *p.state
					seen := map[uint64]bool{i.Target: true}
					for a := range p.seen {
						seen[a] = true
					}
					todo = append(todo, path{i.Target, &fork, p.steps + 1, seen})
				}
				if i.Control == disasm.Jump && !p.seen[i.Target] {
					p.seen[i.Target] = true
					p.at = i.Target
					continue
				}
			}
			if i.Ends() {
				break
			}
		}
	}
	return nil
}

// Returns evaluates the function at entry and returns what each of its paths
// returns.
func Returns(code disasm.Code, entry uint64) ([]Value, error) {
	var vs []Value
	err := Evaluate(code, entry, func(i disasm.Inst, before *State) bool {
		if i.Control == disasm.Ret {
			vs = append(vs, before.Result())
		}
		return true
	})
	return vs, err
}
