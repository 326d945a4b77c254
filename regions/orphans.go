package regions

import "ompp-attach/symbols"

// orphans makes regions of directives that make no call in functions that make
// none either.
func (b *builder) orphans(fs []*function) {
	o := b.object
	done := map[uint64]bool{} // units, by their first code
	for _, f := range fs {
		unit := o.UnitCode(f.lo)
		if unit == nil || done[unit[0].Lo] {
			continue
		}
		done[unit[0].Lo] = true
		var rows []symbols.Row
		for _, c := range unit {
			rows = append(rows, o.Rows(c)...)
		}
		lines := map[string]map[int]uint64{} // code of a line
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
