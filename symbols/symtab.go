package symbols

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"sync"
)

func compare(a, b uint64) int { return cmp.Compare(a, b) }

// symbol is one defined function or datum.
type symbol struct {
	addr, size uint64
	name       string
	dynamic    bool // from .dynsym, which .symtab is preferred to
	rank       uint8
	ifunc      bool // a resolver, which chooses a function at load time
}

// dynSymbol is one entry of .dynsym, at the index relocations use.
type dynSymbol struct {
	name  string
	value uint64
	undef bool
}

// symbolTables holds what the two symbol tables say. Names carry no version.
type symbolTables struct {
	funcs, data symbolTable
	dynamic     []dynSymbol
}

// symbolTable is sorted by address; the index by name is built on demand.
type symbolTable struct {
	sorted []symbol
	byName func() *nameIndex
}

func (o *Object) loadSymbols() *symbolTables {
	t := &symbolTables{}
	file, full := o.symbolTable()
	t.read(file, full, false)
	t.read(o.file, o.file.SectionByType(elf.SHT_DYNSYM), true)
	t.funcs.sort()
	t.data.sort()
	return t
}

// symbolTable returns the full symbol table, of the separate debug file if the
// file itself has none, and the file that it is in; nil if there is none.
func (o *Object) symbolTable() (file *elf.File, full *elf.Section) {
	file = o.file
	full = file.SectionByType(elf.SHT_SYMTAB)
	if full == nil && o.debug() != nil {
		file = o.debug().file
		full = file.SectionByType(elf.SHT_SYMTAB)
	}
	return file, full
}

// read parses the table by hand: elf.File.Symbols allocates a string for each
// of what may be a million symbols before the first can be asked for.
func (t *symbolTables) read(f *elf.File, s *elf.Section, dynamic bool) {
	const entry = 24 // sizeof(Elf64_Sym)
	if s == nil || int(s.Link) >= len(f.Sections) {
		return
	}
	raw, err := s.Data()
	if err != nil {
		return
	}
	strs, err := f.Sections[s.Link].Data()
	if err != nil {
		return
	}
	names := string(strs)
	if dynamic {
		t.dynamic = make([]dynSymbol, 0, len(raw)/entry)
	} else {
		t.funcs.sorted = make([]symbol, 0, len(raw)/entry)
	}
	for ; len(raw) >= entry; raw = raw[entry:] {
		var name string
		if at := binary.LittleEndian.Uint32(raw); int64(at) < int64(len(names)) {
			name = names[at:]
			if end := strings.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			// The linker writes name@version or name@@version into .symtab.
			if v := strings.IndexByte(name, '@'); v > 0 {
				name = name[:v]
			}
		}
		bind, typ := elf.ST_BIND(raw[4]), elf.ST_TYPE(raw[4])
		section := elf.SectionIndex(binary.LittleEndian.Uint16(raw[6:]))
		sym := symbol{binary.LittleEndian.Uint64(raw[8:]), binary.LittleEndian.Uint64(raw[16:]), name, dynamic, bindRank(bind), typ == elf.STT_GNU_IFUNC}
		undef := section == elf.SHN_UNDEF
		if dynamic {
			t.dynamic = append(t.dynamic, dynSymbol{name, sym.addr, undef})
		}
		if undef || section == elf.SHN_ABS || name == "" {
			continue
		}
		switch typ {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
			t.funcs.sorted = append(t.funcs.sorted, sym)
		case elf.STT_OBJECT, elf.STT_COMMON:
			t.data.sorted = append(t.data.sorted, sym)
		}
	}
}

// bindRank orders aliases: the name others link against is the better known.
func bindRank(b elf.SymBind) uint8 {
	switch b {
	case elf.STB_GLOBAL:
		return 0
	case elf.STB_WEAK:
		return 1
	}
	return 2
}

// sort orders by address and drops what both tables have. A large program has
// a million symbols: small keys are moved about, not the symbols themselves.
func (t *symbolTable) sort() {
	keys := make([]key, len(t.sorted))
	for n := range t.sorted {
		keys[n] = key{t.sorted[n].addr, n}
	}
	keys = byAddress(keys)
	for lo := 0; lo < len(keys); {
		hi := lo + 1
		for hi < len(keys) && keys[hi].addr == keys[lo].addr {
			hi++
		}
		if hi > lo+1 {
			slices.SortFunc(keys[lo:hi], func(a, b key) int { return aliases(&t.sorted[a.at], &t.sorted[b.at]) })
		}
		lo = hi
	}
	sorted := make([]symbol, len(keys))
	for n, k := range keys {
		sorted[n] = t.sorted[k.at]
	}
	t.sorted = slices.CompactFunc(sorted, func(a, b symbol) bool { return a.addr == b.addr && a.name == b.name })
	t.byName = sync.OnceValue(func() *nameIndex { return indexNames(t.sorted) })
}

// key is a symbol's address and its place in a table.
type key struct {
	addr uint64
	at   int
}

// byAddress sorts by address, eleven bits after the other: addresses lie close
// together, so that two or three rounds are enough for any program.
func byAddress(keys []key) []key {
	const digit = 11
	if len(keys) == 0 {
		return keys
	}
	least, most := keys[0].addr, keys[0].addr
	for _, k := range keys {
		least, most = min(least, k.addr), max(most, k.addr)
	}
	other := make([]key, len(keys))
	for shift := 0; shift < 64 && (most-least)>>shift > 0; shift += digit {
		var place [1 << digit]int
		for _, k := range keys {
			place[(k.addr-least)>>shift&(1<<digit-1)]++
		}
		sum := 0
		for n, count := range place {
			place[n], sum = sum, sum+count
		}
		for _, k := range keys {
			n := (k.addr - least) >> shift & (1<<digit - 1)
			other[place[n]] = k
			place[n]++
		}
		keys, other = other, keys
	}
	return keys
}

// aliases orders symbols of one address.
func aliases(a, b *symbol) int {
	if c := strings.Compare(a.name, b.name); c != 0 {
		return c
	}
	if a.dynamic != b.dynamic && b.dynamic {
		return -1
	} else if a.dynamic != b.dynamic {
		return 1
	}
	return compare(a.size, b.size)
}

// nameIndex finds symbols by name: a hash table of their places in the sorted
// table, with chains, which is built in a tenth of a map's time.
type nameIndex struct {
	seed        maphash.Seed
	first, next []int32 // -1 ends a chain
}

func indexNames(symbols []symbol) *nameIndex {
	size := 1 << bits.Len(uint(len(symbols)))
	x := &nameIndex{maphash.MakeSeed(), slices.Repeat([]int32{-1}, size), make([]int32, len(symbols))}
	for n := len(symbols) - 1; n >= 0; n-- { // chains ascend
		h := x.bucket(symbols[n].name)
		x.next[n], x.first[h] = x.first[h], int32(n)
	}
	return x
}

func (x *nameIndex) bucket(name string) uint64 {
	return maphash.String(x.seed, name) & uint64(len(x.first)-1)
}

// named returns the addresses of the symbols of this name, ascending.
func (t *symbolTable) named(name string) (addrs []uint64) {
	x := t.byName()
	for n := x.first[x.bucket(name)]; n >= 0; n = x.next[n] {
		if t.sorted[n].name == name {
			addrs = append(addrs, t.sorted[n].addr)
		}
	}
	return addrs
}

// at returns the best symbol that covers vaddr. A symbol without size (hand
// written assembly) reaches to the next one.
func (t *symbolTable) at(vaddr uint64) (symbol, bool) {
	i := sort.Search(len(t.sorted), func(i int) bool { return t.sorted[i].addr > vaddr })
	// A small local symbol may lie inside a larger one, so look a few
	// starts back; real tables nest no deeper.
	for starts := 0; i > 0 && starts < 4; starts++ {
		addr := t.sorted[i-1].addr
		var best symbol
		found := false
		for ; i > 0 && t.sorted[i-1].addr == addr; i-- {
			s := t.sorted[i-1]
			if vaddr-addr >= s.size && !(s.size == 0 && starts == 0) {
				continue
			}
			if !found || better(s, best) {
				best, found = s, true
			}
		}
		if found {
			return best, true
		}
	}
	return symbol{}, false
}

// better chooses among aliases; ties go to the name that sorts first, so that
// reports are reproducible (at visits names in descending order).
func better(a, b symbol) bool {
	if a.dynamic != b.dynamic {
		return !a.dynamic
	}
	return a.rank <= b.rank
}

// Symbol returns the distinct vaddrs of all functions that bear this name, in
// ascending order: versions of one symbol live at different addresses (as
// omp_set_nest_lock@OMP_1.0 and @@OMP_3.0 of libgomp do), and local functions
// may share a name.
func (o *Object) Symbol(name string) []uint64 {
	return o.symbols().funcs.named(name)
}

// Symbols calls visit for each function's name and vaddr, in order of vaddr.
// Size is in bytes, 0 where the table does not say.
func (o *Object) Symbols(visit func(name string, vaddr, size uint64)) {
	for _, s := range o.symbols().funcs.sorted {
		visit(s.name, s.addr, s.size)
	}
}

// DataSymbol returns the lowest vaddr at which a datum of this name is.
func (o *Object) DataSymbol(name string) (vaddr uint64, ok bool) {
	if a := o.symbols().data.named(name); len(a) > 0 {
		return a[0], true
	}
	return 0, false
}

// DataAt returns the name of the datum that covers vaddr; for a named critical
// section of libgomp this is .gomp_critical_user_ and the section's name.
func (o *Object) DataAt(vaddr uint64) (name string, ok bool) {
	s, ok := o.symbols().data.at(vaddr)
	return s.name, ok
}

// FuncAt returns the name and start of the function symbol that covers vaddr.
// The full symbol table is preferred to the dynamic one, global names to weak
// to local ones.
func (o *Object) FuncAt(vaddr uint64) (name string, start uint64, ok bool) {
	s, ok := o.symbols().funcs.at(vaddr)
	return s.name, s.addr, ok
}

// functionsIn calls visit for each function symbol that starts in r, once for
// several names of one address.
func (o *Object) functionsIn(r Range, visit func(name string, code Range)) {
	table := o.symbols().funcs.sorted
	i := sort.Search(len(table), func(i int) bool { return table[i].addr >= r.Lo })
	for last := uint64(0); i < len(table) && table[i].addr < r.Hi; i++ {
		if s := table[i]; s.size > 0 && s.addr != last {
			last = s.addr
			name, _, _ := o.FuncAt(s.addr)
			visit(name, Range{s.addr, s.addr + s.size})
		}
	}
}
