package handles

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ompp-attach/probes/disasm"
)

const (
	firstTransfer = disasm.Call
	lastTransfer  = disasm.Trap
)

// failing matches the names of functions that report errors or end the program. They are not
// followed: a path that calls one has no result.
var failing = regexp.MustCompile(`(?i)err|abort|assert|exit|fatal|_fail|terminate`)

// locks are functions that an accessor calls in a thread-safe library. They are taken to succeed.
var locks = []string{"pthread_mutex_lock", "pthread_mutex_unlock", "pthread_spin_lock", "pthread_spin_unlock"}

// destroyed are the registers that a call leaves undefined (System V ABI).
var destroyed = []int{rax, rcx, rdx, rsi, rdi, 8, 9, 10, 11}

var arguments = []int{rdi, rsi, rdx, rcx, 8, 9}

// transfer executes jumps, calls and returns. done says that the accessor has returned.
func (m *explorer) transfer(s *state, d decoded) (done bool, err error) {
	switch d.Control {
	case disasm.Trap:
		return false, errFailed
	case disasm.Ret:
		return m.leave(s)
	case disasm.Jcc:
		name := d.x86.Op.String()
		if !strings.HasPrefix(name, "J") || d.Cond == disasm.NoCond || name == "JRCXZ" || name == "JECXZ" {
			return false, fmt.Errorf("%s is not understood", d)
		}
		yes, err := m.decide(s, name[1:])
		if yes && err == nil {
			s.pc = d.Target
		}
		return false, err
	}
	call := d.Control == disasm.Call || d.Control == disasm.CallIndirect
	name, target, err := m.target(s, d)
	if err != nil {
		return false, err
	}
	if failing.MatchString(name) {
		return false, errFailed
	}
	if target == 0 || m.closed[target] {
		m.outside(s, cmp.Or(name, fmt.Sprintf("the function at %#x", target)))
		if call {
			return false, nil
		}
		return m.leave(s)
	}
	if len(s.calls) >= maxDepth {
		return false, errors.New("calls are nested too deeply")
	}
	given := len(m.given(s)) > 0
	if call {
		s.regs[rsp] = m.add(s.regs[rsp], m.konst(^uint64(7)))
		m.store(s, s.regs[rsp], m.add(m.bias, m.konst(s.pc)), 8)
		s.calls = append(s.calls, frame{target, given, s.regs[rsp], false})
	} else if s.regs[rsp] == m.frame(s).sp && m.enters(s.at, target) {
		s.calls = append(s.calls, frame{target, given, s.regs[rsp], true})
	}
	s.pc = target
	return false, nil
}

// frame returns the frame of the function that a path is in.
func (m *explorer) frame(s *state) frame {
	if n := len(s.calls); n > 0 {
		return s.calls[n-1]
	}
	return frame{sp: m.leaf(opStack)}
}

// enters reports whether a jump leads to the beginning of another function.
func (m *explorer) enters(from, to uint64) bool {
	lo, hi, ok := m.o.FuncRange(to)
	return ok && lo == to && (from < lo || from >= hi)
}

// target returns the function to which a jump or call leads, and its name if it has one. For a
// function of another object vaddr is 0.
func (m *explorer) target(s *state, d decoded) (name string, vaddr uint64, err error) {
	if d.Control == disasm.Jump || d.Control == disasm.Call {
		vaddr = d.Target
		if n, ok := m.o.PLT(vaddr); ok {
			name, vaddr = n, 0
		}
	} else if n, ok := m.o.GOT(d.Target); ok && d.Target != 0 {
		name = n
	} else {
		v, err := m.get(s, d.x86, d.x86.Args[0], 8)
		if err != nil {
			return "", 0, err
		}
		v, err = m.resolve(s, v)
		if err != nil {
			return "", 0, err
		}
		at := m.sub(v, m.bias)
		if !at.isConst() {
			return "a function that is called through a pointer", 0, nil
		}
		vaddr = at.k
	}
	if name != "" {
		if slices.Contains(locks, name) {
			return name, 0, nil
		}
		if own := m.o.Symbol(name); len(own) > 0 {
			vaddr = own[len(own)-1]
		}
		return name, vaddr, nil
	}
	if n, start, ok := m.o.FuncAt(vaddr); ok && start == vaddr {
		name = n
		if slices.Contains(locks, name) {
			vaddr = 0
		}
	}
	return name, vaddr, nil
}

// outside applies the call of a function that is not followed.
func (m *explorer) outside(s *state, name string) {
	what := "what " + name + " does"
	if !slices.Contains(locks, name) {
		for _, at := range m.given(s) {
			m.store(s, at, m.unknownOf(what), 8)
		}
	}
	for _, r := range destroyed {
		s.regs[r] = m.unknownOf(what)
	}
	if slices.Contains(locks, name) {
		s.regs[rax] = m.zero
	}
}

// given returns the arguments through which a function can deliver a result of
// the accessor.
func (m *explorer) given(s *state) (at []*node) {
	for _, r := range arguments {
		if base, _ := m.base(s.regs[r]); base.op == opOut || base.op == opStack {
			at = append(at, s.regs[r])
		}
	}
	return at
}

// leave returns to the caller.
func (m *explorer) leave(s *state) (done bool, err error) {
	to, err := m.load(s, s.regs[rsp], 8)
	if err != nil {
		return false, err
	}
	s.regs[rsp] = m.add(s.regs[rsp], m.konst(8))
	if to.op == opReturn {
		return true, nil
	}
	at := m.sub(to, m.bias)
	if !at.isConst() {
		return false, errors.New("a return leads to an unknown place")
	}
	for tail := true; tail && len(s.calls) > 0; s.calls = s.calls[:len(s.calls)-1] {
		tail = m.frame(s).tail
	}
	s.pc = at.k
	return false, nil
}
