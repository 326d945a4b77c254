package regions

import "ompp-attach/symbols"

// orphans makes the regions of directives that make no call, in functions that make no call either.
func (b *builder) orphans(fs []*function) {
	o := b.object
	done := map[uint64]bool{}
	for _, f := range fs {
		unit := unitOf(o, f.lo)
		if unit == 0 || done[unit] {
			continue
		}
		done[unit] = true
		rows := b.unitRows(f.lo)
		lines := map[string]map[int]uint64{} // address of the code, by file and line
		for _, r := range rows {
			if lines[r.File] == nil {
				lines[r.File] = map[int]uint64{}
			}
			if _, ok := lines[r.File][r.Line]; !ok {
				lines[r.File][r.Line] = r.Addr
			}
		}
		for _, src := range b.sources.files {
			if src == nil || lines[src.name] == nil {
				continue
			}
			for i, d := range src.ds {
				dd := directive{src, i}
				if b.used[dd] || outlines(d.Words) || !isConstruct(d.Words) {
					continue
				}
				for line := d.Begin; line <= d.End; line++ {
					addr, ok := lines[src.name][line]
					if !ok {
						continue
					}
					r := Region{Parent: -1, Found: ByLine, Function: o.SourceFunction(addr)}
					r.Code, _, _ = o.FuncRange(addr)
					b.describe(&r, dd)
					b.new(r)
					break
				}
			}
		}
	}
}

// unitRows returns the line table's rows of the compile unit that covers vaddr.
func (b *builder) unitRows(vaddr uint64) []symbols.Row {
	unit := unitOf(b.object, vaddr)
	rows, ok := b.units[unit]
	if !ok {
		for _, c := range b.object.UnitCode(vaddr) {
			rows = append(rows, b.object.Rows(c)...)
		}
		b.units[unit] = rows
	}
	return rows
}

// inLambda reports whether the code of a directive is in another function than the text suggests.
// In the text the directive stands in the body of an outlined function. Its code is in a function
// of the same unit that is not outlined: that of a lambda expression or of a local class.
func (b *builder) inLambda(f *function, d directive) bool {
	for _, r := range b.unitRows(f.lo) {
		if !d.holds(symbols.Frame{File: r.File, Line: r.Line}) {
			continue
		}
		if lo, _, ok := b.object.FuncRange(r.Addr); ok && !b.bodyCode[lo] {
			return true
		}
	}
	return false
}
