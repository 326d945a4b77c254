package debuginfo

import (
	"slices"
	"strings"
)

// SameSource reports whether name means a file of the line table. name is its whole path or the end
// of it.
func SameSource(file, name string) bool {
	return file == name || strings.HasSuffix(file, "/"+strings.TrimPrefix(name, "./"))
}

// Statements returns, by line, the addresses at which statements begin in the lines from first to
// last of a source file. sources are the paths of all files that name may mean, whether or not they
// have such lines.
func (x *Index) Statements(name string, first, last int) (at map[int][]uint64, sources []string) {
	at = map[int][]uint64{}
	if x == nil {
		return at, nil
	}
	x.entries.whole()
	for _, u := range x.units {
		t := u.lines()
		wanted := false
		for _, f := range t.files {
			if f != nil && SameSource(f.Name, name) {
				wanted = true
				if !slices.Contains(sources, f.Name) {
					sources = append(sources, f.Name)
				}
			}
		}
		if !wanted {
			continue
		}
		for _, r := range t.rows {
			if r.stmt && !r.end && r.line >= first && r.line <= last && SameSource(fileName(r.file), name) {
				at[r.line] = append(at[r.line], r.addr)
			}
		}
	}
	return at, sources
}

// Statement returns the place of the statement to which the instruction at vaddr belongs. In
// optimised code, instructions of other statements may stand between those of a statement. The line
// table does not mark such instructions as beginnings.
func (x *Index) Statement(vaddr uint64) (file string, line int, ok bool) {
	u := x.unitAt(vaddr)
	if u == nil {
		return "", 0, false
	}
	t := u.lines()
	i, ok := t.at(vaddr)
	if !ok {
		return "", 0, false
	}
	for ; i >= 0 && !t.rows[i].end; i-- {
		if r := t.rows[i]; r.stmt && r.line > 0 {
			return fileName(r.file), r.line, true
		}
	}
	return "", 0, false
}
