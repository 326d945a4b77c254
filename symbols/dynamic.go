package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// This file reads the same parts of a file as the dynamic loader, and in the same way: a few bytes
// here and there. A process may map hundreds of libraries, most of which do not matter here. To
// parse all their symbols would take seconds.

// dynamicTables holds the parts of the dynamic section that lead to names.
type dynamicTables struct {
	symbols, strings uint64 // vaddrs
	hash             gnuHash
	ok               bool // all of the above are there
}

// gnuHash is the header of DT_GNU_HASH: buckets, first hashed symbol, words of
// the Bloom filter, its shift; then filter, buckets, chains.
type gnuHash struct {
	filter, buckets, chains uint64 // vaddrs
	count, words            uint32 // of buckets, of the filter
	first, shift            uint32 // first hashed symbol, the filter's second bit
}

// dynamicEntrySize and symbolSize are those of Elf64_Dyn and Elf64_Sym.
const (
	dynamicEntrySize = 16
	symbolSize       = 24
)

func (o *Object) loadDynamicTables() (t dynamicTables) {
	var hash uint64
	for _, p := range o.file.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		for b := o.readAt(p.Off, min(p.Filesz, 1<<16)); len(b) >= dynamicEntrySize; b = b[dynamicEntrySize:] {
			v := binary.LittleEndian.Uint64(b[8:])
			switch elf.DynTag(binary.LittleEndian.Uint64(b)) {
			case elf.DT_SYMTAB:
				t.symbols = v
			case elf.DT_STRTAB:
				t.strings = v
			case elf.DT_GNU_HASH:
				hash = v
			}
		}
	}
	b := o.Read(hash, 16)
	if hash == 0 || len(b) < 16 || t.symbols == 0 || t.strings == 0 {
		return t
	}
	h := &t.hash
	h.count, h.first = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	h.words, h.shift = binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	h.filter = hash + 16
	h.buckets = h.filter + 8*uint64(h.words)
	h.chains = h.buckets + 4*uint64(h.count)
	t.ok = h.count > 0 && h.words > 0
	return t
}

// Exports reports whether the object defines a dynamic symbol of this name, as the loader would
// find it by DT_GNU_HASH. For files without this table (linked with --hash-style=sysv), it parses
// the symbols.
func (o *Object) Exports(name string) bool {
	t := o.dynamic()
	if !t.ok {
		for _, s := range o.symbols().dynamic {
			if s.name == name && !s.undef {
				return true
			}
		}
		return false
	}
	h := &t.hash
	sum := uint32(5381)
	for i := range len(name) {
		sum = sum*33 + uint32(name[i])
	}
	word := o.Read(h.filter+8*uint64(sum/64%h.words), 8)
	if len(word) < 8 {
		return false
	}
	if w := binary.LittleEndian.Uint64(word); w>>(sum%64)&1 == 0 || w>>(sum>>(h.shift&31)&63)&1 == 0 {
		return false
	}
	bucket := o.Read(h.buckets+4*uint64(sum%h.count), 4)
	if len(bucket) < 4 {
		return false
	}
	at := binary.LittleEndian.Uint32(bucket)
	if at < h.first {
		return false // empty
	}
	const longest = 1 << 12 // chains have a few links; a longer one is corrupt
	for n := uint32(0); n < longest; n++ {
		link := o.Read(h.chains+4*uint64(at-h.first+n), 4)
		if len(link) < 4 {
			return false
		}
		v := binary.LittleEndian.Uint32(link)
		if v|1 == sum|1 && o.dynamicName(t, at+n) == name {
			return true
		}
		if v&1 != 0 { // the chain's end
			return false
		}
	}
	return false
}

// dynamicName returns the name of a symbol if the symbol has an address, and "" otherwise.
func (o *Object) dynamicName(t *dynamicTables, index uint32) string {
	s := o.Read(t.symbols+symbolSize*uint64(index), symbolSize)
	if len(s) < symbolSize || binary.LittleEndian.Uint16(s[6:]) == uint16(elf.SHN_UNDEF) {
		return ""
	}
	const longest = 4096 // longer names are never asked for
	b := o.Read(t.strings+uint64(binary.LittleEndian.Uint32(s)), longest)
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return string(b[:end])
	}
	return ""
}

// loadImports reads the undefined dynamic symbols, and makes no list of the others. They may stand
// anywhere in the table, since DT_GNU_HASH lists some of them, too. The value of a name says
// whether the loader must find the name.
func (o *Object) loadImports() map[string]bool {
	imports := map[string]bool{}
	table := o.dynamicTable()
	names := table.names()
	table.each(func(entry []byte) {
		if !isUndefined(entry) {
			return
		}
		if at := binary.LittleEndian.Uint32(entry); int64(at) < int64(len(names)) {
			if name, _, _ := strings.Cut(names[at:], "\x00"); name != "" {
				imports[name] = imports[name] || elf.ST_BIND(entry[4]) != elf.STB_WEAK
			}
		}
	})
	return imports
}

// Imports reports whether the object has an undefined dynamic symbol of this name, so that another
// object must define it.
func (o *Object) Imports(name string) bool {
	_, ok := o.imports()[name]
	return ok
}

// Requires reports whether the object imports a name that the loader must find: the name is not
// weak.
func (o *Object) Requires(name string) bool { return o.imports()[name] }
