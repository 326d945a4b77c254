package regions

import (
	"encoding/binary"
	"maps"
	"regexp"
	"slices"

	"ompp-attach/symbols"
)

// entryPoints are the places of a file that lead into an OpenMP runtime.
type entryPoints struct {
	code   map[uint64]string // PLT stubs; the runtime's functions in static programs
	lo, hi uint64            // bounds of code
	slot   func(vaddr uint64) (string, bool)
	static bool // the runtime is part of the file
}

func findEntryPoints(o *symbols.Object) entryPoints {
	e := entryPoints{code: map[uint64]string{}}
	for at, name := range o.Stubs() {
		if _, ok := callOf(name); ok {
			e.code[at] = name
		}
	}
	o.Symbols(func(name string, vaddr, _ uint64) {
		if len(name) > 0 && (name[0] == 'G' || name[0] == '_' || name[0] == 'o') {
			if _, ok := callOf(name); ok {
				e.code[vaddr], e.static = name, true
			}
		}
	})
	addrs := slices.Sorted(maps.Keys(e.code))
	if len(addrs) > 0 {
		e.lo, e.hi = addrs[0], addrs[len(addrs)-1]
	}
	e.slot = func(vaddr uint64) (string, bool) {
		name, ok := o.GOT(vaddr)
		if !ok {
			return "", false
		}
		_, ok = callOf(name)
		return name, ok
	}
	return e
}

// at returns the entry point at a vaddr of code.
func (e *entryPoints) at(vaddr uint64) (string, bool) {
	if vaddr < e.lo || vaddr > e.hi {
		return "", false
	}
	name, ok := e.code[vaddr]
	return name, ok
}

// scan returns the addresses in code at which bytes stand that may be a call of
// a runtime's entry point, or a jump to one, in ascending order. Whether they
// are instructions only decoding from the function's start tells.
func scan(o *symbols.Object, e *entryPoints) (found []uint64) {
	const (
		chunk = 1 << 20
		tail  = 8 // the longest instruction looked for, less a byte, rounded
	)
	for _, r := range o.TextRanges() {
		for lo := r.Lo; lo < r.Hi; lo += chunk {
			b := o.Read(lo, int(min(r.Hi-lo, chunk+tail)))
			n := min(len(b), chunk)
			if o.Arch() == "arm64" {
				found = scanARM64(found, b, n, lo, e)
			} else {
				found = scanAMD64(found, b, n, lo, e)
			}
			if len(b) < chunk {
				break
			}
		}
	}
	return found
}

func scanAMD64(found []uint64, b []byte, n int, base uint64, e *entryPoints) []uint64 {
	for i := 0; i < n && i+5 <= len(b); i++ {
		switch b[i] {
		case 0xe8, 0xe9: // call rel32, jmp rel32
			target := base + uint64(i) + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(b[i+1:]))))
			if target < e.lo || target > e.hi {
				continue
			}
			if _, ok := e.code[target]; ok {
				found = append(found, base+uint64(i))
			}
		case 0x0f: // jcc rel32
			if i+6 > len(b) || b[i+1]&0xf0 != 0x80 {
				continue
			}
			target := base + uint64(i) + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(b[i+2:]))))
			if _, ok := e.at(target); ok {
				found = append(found, base+uint64(i))
			}
		case 0xff: // call *slot(%rip), jmp *slot(%rip)
			if i+6 > len(b) || b[i+1] != 0x15 && b[i+1] != 0x25 {
				continue
			}
			slot := base + uint64(i) + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(b[i+2:]))))
			if _, ok := e.slot(slot); ok {
				found = append(found, base+uint64(i))
			}
		}
	}
	return found
}

func scanARM64(found []uint64, b []byte, n int, base uint64, e *entryPoints) []uint64 {
	for i := 0; i+4 <= n; i += 4 {
		w := binary.LittleEndian.Uint32(b[i:])
		if w&0x7c000000 != 0x14000000 { // b, bl
			continue
		}
		target := base + uint64(i) + uint64(int64(int32(w<<6))>>6<<2)
		if _, ok := e.at(target); ok {
			found = append(found, base+uint64(i))
		}
	}
	return found
}

// runtimeName matches the functions of OpenMP runtimes; users' own may begin
// with omp_, too.
var runtimeName = regexp.MustCompile(`^(GOMP_|gomp_|GOACC_|goacc_|acc_|__kmp|kmp_|ompt_|_Z.*__kmp|` +
	`omp_(get|set|unset|test|init|destroy|in|is|pause|capture|display|fulfill|alloc|calloc|realloc|aligned|free|target)_)`)

// ofRuntime reports whether a function is part of the runtime in a static
// program, whose calls of itself are no constructs.
func (e *entryPoints) ofRuntime(function string) bool {
	return e.static && runtimeName.MatchString(function)
}
