package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"path/filepath"
	"slices"
	"sort"
)

// lineTable is a unit's line table, sorted by address.
type lineTable struct {
	rows  []row
	files []*dwarf.LineFile
}

// row is a row of a line table: the instructions from addr to the next row belong to line. Line 0
// stands for no line.
type row struct {
	addr uint64
	file *dwarf.LineFile
	line int
	stmt bool // a statement starts here
	end  bool // no code from here on
}

// maxRows bounds the memory that a corrupt line program can make us allocate. The largest units of
// real programs have a hundredth of this number.
const maxRows = 1 << 26

func (u *unit) loadLines() (t *lineTable) {
	t = &lineTable{}
	defer func() {
		if recover() != nil { // see Load
			t = &lineTable{}
		}
	}()
	e := u.entry()
	if e == nil {
		return t
	}
	offset, ok := e.Val(dwarf.AttrStmtList).(int64)
	if !ok || !plausibleLines(u.index.lines, offset) {
		return t
	}
	r, err := u.index.entries.at(e.Offset).LineReader(e)
	if err != nil || r == nil {
		return t
	}
	var sequences [][]row
	var current []row
	var le dwarf.LineEntry
	for n := 0; n < maxRows && r.Next(&le) == nil; n++ {
		current = append(current, row{le.Address, le.File, le.Line, le.IsStmt, le.EndSequence})
		if le.EndSequence {
			if u.index.isText(current[0].addr) {
				sequences = append(sequences, current)
			}
			current = nil
		}
	}
	t.files = r.Files()
	u.fixNames(t.files)
	slices.SortStableFunc(sequences, func(a, b []row) int { return cmp.Compare(a[0].addr, b[0].addr) })
	for _, s := range sequences {
		// By the standard, addresses ascend within a sequence. A broken table must still be
		// searchable.
		if !slices.IsSortedFunc(s, func(a, b row) int { return cmp.Compare(a.addr, b.addr) }) {
			continue
		}
		if n := len(t.rows); n > 0 && t.rows[n-1].addr > s[0].addr {
			continue
		}
		t.rows = append(t.rows, s...)
	}
	return t
}

// fixNames makes file names absolute. In DWARF 5 tables, directories may be relative to the unit's
// directory, and debug/dwarf leaves them relative. Directory 0 may hold an absolute path of the
// unit's own source, if the compiler was given such a path. debug/dwarf puts the unit's directory
// before this path nevertheless.
func (u *unit) fixNames(files []*dwarf.LineFile) {
	name, _ := u.entry().Val(dwarf.AttrName).(string)
	dir, _ := u.entry().Val(dwarf.AttrCompDir).(string)
	for _, f := range files {
		switch {
		case f == nil || f.Name == "" || dir == "":
		case !filepath.IsAbs(f.Name):
			f.Name = filepath.Join(dir, f.Name)
		case filepath.IsAbs(name) && filepath.Clean(f.Name) == filepath.Join(dir, name):
			f.Name = name
		}
	}
}

// at returns the index of the row that covers vaddr. If several rows start at one address, the last
// one counts: the earlier ones cover nothing.
func (t *lineTable) at(vaddr uint64) (int, bool) {
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr > vaddr }) - 1
	if i < 0 || t.rows[i].end {
		return 0, false
	}
	return i, true
}

// within returns the rows that start in r.
func (t *lineTable) within(r Range) []row {
	lo := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr >= r.Lo })
	hi := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr >= r.Hi })
	if lo >= hi {
		return nil
	}
	return t.rows[lo:hi]
}

func fileName(f *dwarf.LineFile) string {
	if f == nil {
		return ""
	}
	return f.Name
}

// Line returns the source line of the instruction at vaddr. The file is an
// absolute path where the compiler recorded its directory. exact means that a
// row of the line table starts at vaddr, as it does for a statement of its own.
// Instructions that the compiler gave no line (line 0) get the line of the
// instructions before them, and are not exact.
func (x *Index) Line(vaddr uint64) (file string, line int, exact, ok bool) {
	u := x.unitAt(vaddr)
	if u == nil {
		return "", 0, false, false
	}
	t := u.lines()
	i, ok := t.at(vaddr)
	if !ok {
		return "", 0, false, false
	}
	exact = t.rows[i].addr == vaddr && t.rows[i].line > 0
	for ; i >= 0 && !t.rows[i].end; i-- {
		if r := t.rows[i]; r.line > 0 {
			return fileName(r.file), r.line, exact, true
		}
	}
	return "", 0, false, false
}

// CompileDirs returns the different directories (DW_AT_comp_dir) in which units were compiled. The
// directory of the unit that was compiled from file comes first.
func (x *Index) CompileDirs(file string) (dirs []string) {
	if x == nil {
		return nil
	}
	x.entries.whole()
	for _, u := range x.units {
		e := u.entry()
		if e == nil {
			continue
		}
		dir, _ := e.Val(dwarf.AttrCompDir).(string)
		name, _ := e.Val(dwarf.AttrName).(string)
		switch {
		case !filepath.IsAbs(dir):
		case name == file:
			dirs = append([]string{dir}, dirs...)
		case !slices.Contains(dirs, dir):
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
