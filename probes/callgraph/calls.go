package callgraph

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// CallsOf finds the direct calls of an own function in a library, straight or through its procedure
// linkage table. Each call is confirmed: the function that holds it is decoded from its start.
// skipped are addresses of bytes that look like such a call or jump, but are no instruction of a
// known function. These may be calls, too.
func CallsOf(o *symbols.Object, name string) (calls []disasm.Inst, skipped []uint64, err error) {
	own := o.Symbol(name)
	known := map[uint64]bool{}
	isTarget := func(t uint64) bool {
		yes, ok := known[t]
		if !ok {
			s, plt := o.PLT(t)
			yes = slices.Contains(own, t) || plt && s == name
			known[t] = yes
		}
		return yes
	}
	for _, r := range o.TextRanges() {
		b := o.Read(r.Lo, int(r.Hi-r.Lo))
		for _, at := range callCandidates(o.Arch(), b, r.Lo, isTarget) {
			lo, _, ok := o.FuncRange(at)
			if !ok {
				skipped = append(skipped, at)
				continue
			}
			body, err := disasm.Func(CodeOf(o), lo)
			if err != nil {
				return nil, nil, fmt.Errorf("reading the function around %#x: %w", at, err)
			}
			i := slices.IndexFunc(body, func(i disasm.Inst) bool { return i.Addr == at && i.Control == disasm.Call })
			if i < 0 {
				skipped = append(skipped, at)
				continue
			}
			calls = append(calls, body[i])
		}
	}
	if len(calls) == 0 {
		return nil, skipped, fmt.Errorf("no direct call of %s", name)
	}
	return calls, skipped, nil
}

// callCandidates finds bytes that look like a direct call of a wanted target, or like a jump there.
func callCandidates(arch string, b []byte, base uint64, wanted func(uint64) bool) (at []uint64) {
	if arch == "arm64" {
		for i := 0; i+4 <= len(b); i += 4 { // bl, b: 26 bits of words
			w := binary.LittleEndian.Uint32(b[i:])
			if w>>26&^0x20 == 0x05 && wanted(base+uint64(i)+uint64(int64(int32(w<<6)>>4))) {
				at = append(at, base+uint64(i))
			}
		}
		return at
	}
	for i := 0; i+5 <= len(b); i++ { // e8: call, e9: jmp
		if b[i]&^1 == 0xe8 && wanted(base+uint64(i)+5+uint64(int64(int32(binary.LittleEndian.Uint32(b[i+1:]))))) {
			at = append(at, base+uint64(i))
		}
	}
	return at
}

// MaxBehind bounds how far behind a call a probe may sit, in instructions:
// a few moves of the library's own bookkeeping.
const MaxBehind = 12

// Behind finds the first instruction behind a call that the kernel emulates,
// provided that nothing else leads to it.
func Behind(o *symbols.Object, call disasm.Inst) (at disasm.Inst, err error) {
	lo, _, ok := o.FuncRange(call.Addr)
	if !ok {
		return at, fmt.Errorf("its function is not known")
	}
	body, err := disasm.Func(CodeOf(o), lo)
	if err != nil {
		return at, err
	}
	targets := map[uint64]bool{}
	for _, i := range body {
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			targets[i.Target] = true
		}
	}
	next := call.Next()
	for range MaxBehind {
		if targets[next] {
			return at, fmt.Errorf("code from elsewhere joins at %#x", next)
		}
		i, err := disasm.Decode(o, next)
		if err != nil {
			return at, err
		}
		if i.Emulated && !i.Refused {
			return i, nil
		}
		if i.Transfers() {
			break
		}
		next = i.Next()
	}
	return at, fmt.Errorf("no instruction that a probe may sit on cheaply")
}

// Returns finds instructions through which a function returns, together hit once.
func Returns(o *symbols.Object, name string) (found []points.Approach, err error) {
	entry, err := disasm.OneSymbol(o, name)
	if err != nil {
		return nil, err
	}
	parts, err := disasm.Parts(CodeOf(o), entry)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	for _, body := range parts {
		for _, i := range body {
			if i.Control == disasm.Ret {
				found = append(found, points.Approaches(parts, i.Addr)...)
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no return", name)
	}
	return found, nil
}
