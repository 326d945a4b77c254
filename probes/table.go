package probes

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Table holds a runtime's rows, and one matcher for all of their names.
type Table struct {
	rows  []Row
	match *regexp.Regexp
}

// NewTable returns a function that makes the table of the given rows at its first call.
func NewTable(rows ...[]Row) func() *Table {
	return sync.OnceValue(func() *Table {
		t := &Table{rows: slices.Concat(rows...)}
		var alternatives []string
		for _, r := range t.rows {
			alternatives = append(alternatives, "("+strings.ReplaceAll(r.Symbols, "(", "(?:")+")")
		}
		t.match = regexp.MustCompile("^(?:" + strings.Join(alternatives, "|") + ")$")
		return t
	})
}

// Find returns the row of an entry point, or nil.
func (t *Table) Find(symbol string) *Row {
	m := t.match.FindStringSubmatchIndex(symbol)
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			return &t.rows[i/2-1]
		}
	}
	return nil
}
