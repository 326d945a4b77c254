package hierarchy

import (
	"fmt"
	"path"
	"strconv"

	"ompp-attach/hiera"
	"ompp-attach/report/words"
)

// unit says what the numbers of a column are.
type unit uint8

const (
	text    unit = iota
	number       // a count, or bytes
	time         // ns; seconds in text
	single       // ns; microseconds in text
	percent      // a share; per cent in text
)

type column struct {
	key   string // in CSV and JSON; times have _ns added
	title string // in text
	unit  unit
}

// table is a table of the statistics. A cell is a string, an int64, a uint64, a float64, or nil if
// the figure is not known.
type table struct {
	title   string
	columns []column
	rows    [][]any
	notes   []string // whole sentences, below
	few     int      // text shows so many rows unless all are wanted; 0: all
}

func (t *table) add(cells ...any) { t.rows = append(t.rows, cells) }

func (c column) name() string {
	if c.unit == time || c.unit == single {
		return c.key + "_ns"
	}
	return c.key
}

// plain writes a cell as a number without rounding; empty if it is not known.
func plain(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(cell)
}

// shown writes a cell for a reader.
func (c column) shown(cell any) string {
	if cell == nil {
		return "-"
	}
	var v float64
	switch n := cell.(type) {
	case string:
		if c.key == "file" {
			n = path.Base(n)
		}
		return words.Clean(n)
	case int64:
		v = float64(n)
	case uint64:
		v = float64(n)
	case int:
		v = float64(n)
	case float64:
		v = n
	}
	switch c.unit {
	case time:
		return words.Decimal(v/1e9, 0, 6)
	case single:
		return words.Decimal(v/1e3, 0, 3)
	case percent:
		return words.Decimal(100*v, 0, 1)
	}
	return fmt.Sprintf("%.0f", v)
}

// process returns a process's rank for a cell; partners in other communicators have none.
func process(rank int) any {
	if rank == hiera.Elsewhere {
		return "other"
	}
	return int64(rank)
}
