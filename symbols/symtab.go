package symbols

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"sync"
)

func compare(a, b uint64) int { return cmp.Compare(a, b) }

// symbol is a defined function or datum. A large program has a million of them, so a symbol must be
// small: its name is an offset in a string table.
type symbol struct {
	addr, size uint64
	name       uint32 // see symbolTable.name
	dynamic    bool   // from .dynsym; a symbol from .symtab is preferred
	rank       uint8
	ifunc      bool // a resolver, which chooses a function at load time
}

// dynSymbol is an entry of .dynsym. Relocations refer to it by its index.
type dynSymbol struct {
	name  string
	value uint64
	undef bool
}

// symbolTables holds the contents of the two symbol tables. Names carry no version.
type symbolTables struct {
	funcs, data symbolTable
	dynamic     []dynSymbol
}

// symbolTable is sorted by address; the index by name is built on demand.
type symbolTable struct {
	sorted []symbol
	names  *[2]string // the string tables, of .symtab and of .dynsym
	byName func() *nameIndex
}

// name returns a symbol's name.
func (t *symbolTable) name(s *symbol) string {
	if s.dynamic {
		return nameAt(t.names[1], s.name)
	}
	return nameAt(t.names[0], s.name)
}

// nameAt returns the name at a place in a string table, without the version that
// the linker writes into .symtab (name@version or name@@version).
func nameAt(names string, at uint32) string {
	if int64(at) >= int64(len(names)) {
		return ""
	}
	name := names[at:]
	if end := strings.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	if v := strings.IndexByte(name, '@'); v > 0 {
		name = name[:v]
	}
	return name
}

func (o *Object) loadSymbols() *symbolTables {
	t := &symbolTables{}
	full, dynamic := o.symbolTable(), o.dynamicTable()
	names := &[2]string{full.names(), dynamic.names()}
	t.funcs.names, t.data.names = names, names
	t.funcs.sorted = make([]symbol, 0, full.count())
	full.each(func(entry []byte) { t.read(entry, names[0], false) })
	t.dynamic = make([]dynSymbol, 0, dynamic.count())
	dynamic.each(func(entry []byte) {
		name := nameAt(names[1], binary.LittleEndian.Uint32(entry))
		t.dynamic = append(t.dynamic, dynSymbol{name, binary.LittleEndian.Uint64(entry[8:]), isUndefined(entry)})
		t.read(entry, names[1], true)
	})
	t.funcs.sort()
	t.data.sort()
	return t
}

// read adds an entry of a symbol table.
func (t *symbolTables) read(entry []byte, names string, dynamic bool) {
	var in *[]symbol
	switch elf.ST_TYPE(entry[4]) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		in = &t.funcs.sorted
	case elf.STT_OBJECT, elf.STT_COMMON:
		in = &t.data.sorted
	default:
		return
	}
	name := binary.LittleEndian.Uint32(entry)
	if !isDefined(entry) || int64(name) >= int64(len(names)) || names[name] == 0 {
		return
	}
	*in = append(*in, symbol{
		addr: binary.LittleEndian.Uint64(entry[8:]), size: binary.LittleEndian.Uint64(entry[16:]), name: name,
		dynamic: dynamic, rank: bindRank(elf.ST_BIND(entry[4])), ifunc: elf.ST_TYPE(entry[4]) == elf.STT_GNU_IFUNC,
	})
}

// bindRank ranks the names of one address. Names to which other files link are better known.
func bindRank(b elf.SymBind) uint8 {
	switch b {
	case elf.STB_GLOBAL:
		return 0
	case elf.STB_WEAK:
		return 1
	}
	return 2
}

// sort sorts the table by address and drops symbols that both tables have. It moves entries, not
// the symbols themselves.
func (t *symbolTable) sort() {
	if len(t.sorted) > math.MaxInt32 {
		t.sorted = t.sorted[:math.MaxInt32]
	}
	entries := make([]entry, len(t.sorted))
	for n := range t.sorted {
		entries[n] = entry{t.sorted[n].addr, int32(n)}
	}
	sorted := make([]symbol, len(entries))
	for n, k := range byAddress(entries) {
		sorted[n] = t.sorted[k.at]
	}
	t.sorted = sorted
	for lo := 0; lo < len(t.sorted); {
		hi := lo + 1
		for hi < len(t.sorted) && t.sorted[hi].addr == t.sorted[lo].addr {
			hi++
		}
		if hi > lo+1 {
			slices.SortStableFunc(t.sorted[lo:hi], func(a, b symbol) int { return t.aliases(&a, &b) })
		}
		lo = hi
	}
	t.sorted = slices.CompactFunc(t.sorted, func(a, b symbol) bool { return a.addr == b.addr && t.name(&a) == t.name(&b) })
	t.byName = sync.OnceValue(func() *nameIndex { return t.indexNames() })
}

// entry is a symbol's address and its place in a table.
type entry struct {
	addr uint64
	at   int32
}

// byAddress sorts by address, eleven bits at a time. Addresses lie close together, so two or three
// rounds are enough for any program.
func byAddress(entries []entry) []entry {
	const digit = 11
	if len(entries) == 0 {
		return entries
	}
	least, most := entries[0].addr, entries[0].addr
	for _, k := range entries {
		least, most = min(least, k.addr), max(most, k.addr)
	}
	other := make([]entry, len(entries))
	for shift := 0; shift < 64 && (most-least)>>shift > 0; shift += digit {
		var place [1 << digit]int
		for _, k := range entries {
			place[(k.addr-least)>>shift&(1<<digit-1)]++
		}
		sum := 0
		for n, count := range place {
			place[n], sum = sum, sum+count
		}
		for _, k := range entries {
			n := (k.addr - least) >> shift & (1<<digit - 1)
			other[place[n]] = k
			place[n]++
		}
		entries, other = other, entries
	}
	return entries
}

// aliases orders symbols of one address.
func (t *symbolTable) aliases(a, b *symbol) int {
	if c := strings.Compare(t.name(a), t.name(b)); c != 0 {
		return c
	}
	if a.dynamic != b.dynamic && b.dynamic {
		return -1
	} else if a.dynamic != b.dynamic {
		return 1
	}
	return compare(a.size, b.size)
}

// nameIndex finds symbols by name. It is a hash table with chains of indices in the sorted table.
// Building it takes a tenth of the time that a map would take.
type nameIndex struct {
	seed        maphash.Seed
	first, next []int32 // -1 ends a chain
}

func (t *symbolTable) indexNames() *nameIndex {
	size := 1 << bits.Len(uint(len(t.sorted)))
	x := &nameIndex{maphash.MakeSeed(), slices.Repeat([]int32{-1}, size), make([]int32, len(t.sorted))}
	for n := len(t.sorted) - 1; n >= 0; n-- { // chains ascend
		h := x.bucket(t.name(&t.sorted[n]))
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
		if t.name(&t.sorted[n]) == name {
			addrs = append(addrs, t.sorted[n].addr)
		}
	}
	return addrs
}

// at returns the best symbol that covers vaddr. A symbol without a size (hand-written assembly)
// reaches to the next symbol.
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

// better chooses among the names of one address. If names rank equally, the one that sorts first is
// chosen, which makes reports reproducible (at visits names in descending order).
func better(a, b symbol) bool {
	if a.dynamic != b.dynamic {
		return !a.dynamic
	}
	return a.rank <= b.rank
}

// Symbol returns the different vaddrs of all functions with this name, in ascending order. Versions
// of a symbol have different addresses (such as omp_set_nest_lock@OMP_1.0 and @@OMP_3.0 of
// libgomp). Local functions may share a name, too.
func (o *Object) Symbol(name string) []uint64 {
	return o.symbols().funcs.named(name)
}

// Symbols calls visit for each function's name and vaddr, in the order of vaddrs. Size is in bytes;
// 0: the table does not say it.
func (o *Object) Symbols(visit func(name string, vaddr, size uint64)) {
	t := &o.symbols().funcs
	for n := range t.sorted {
		s := &t.sorted[n]
		visit(t.name(s), s.addr, s.size)
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
	t := &o.symbols().data
	s, ok := t.at(vaddr)
	if !ok {
		return "", false
	}
	return t.name(&s), true
}

// FuncAt returns the name and start of the function symbol that covers vaddr. The full symbol table
// is preferred to the dynamic one. Global names are preferred to weak ones, and these to local
// ones.
func (o *Object) FuncAt(vaddr uint64) (name string, start uint64, ok bool) {
	t := &o.symbols().funcs
	s, ok := t.at(vaddr)
	if !ok {
		return "", 0, false
	}
	return t.name(&s), s.addr, true
}

// FunctionsIn calls visit for each function symbol that starts in r, once for
// several names of one address.
func (o *Object) FunctionsIn(r Range, visit func(name string, code Range)) {
	table := o.symbols().funcs.sorted
	i := sort.Search(len(table), func(i int) bool { return table[i].addr >= r.Lo })
	for last := uint64(0); i < len(table) && table[i].addr < r.Hi; i++ {
		if s := table[i]; s.size > 0 && s.addr != last {
			last = s.addr
			name, _, _ := o.FuncAt(s.addr)
			visit(name, Range{Lo: s.addr, Hi: s.addr + s.size})
		}
	}
}
