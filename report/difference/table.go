package difference

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// table is a text table: the first column is left-aligned, the others are right-aligned.
type table struct {
	head []string
	rows [][]string // a row of one cell is a note below the row before
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) note(line string) { t.rows = append(t.rows, []string{line}) }

// write writes the table, without columns that are empty.
func (t *table) write(w *text) {
	width := make([]int, len(t.head))
	filled := make([]bool, len(t.head))
	for n, row := range append([][]string{t.head}, t.rows...) {
		if len(row) == 1 {
			continue
		}
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
			filled[i] = filled[i] || n > 0 && c != ""
		}
	}
	for _, row := range append([][]string{t.head}, t.rows...) {
		line := row[0]
		for i, c := range row {
			switch {
			case len(row) == 1 || !filled[i]:
			case i == 0:
				line = fmt.Sprintf("%-*s", width[0], c)
			default:
				line += fmt.Sprintf("  %*s", width[i], c)
			}
		}
		w.printf("%s\n", strings.TrimRight(line, " "))
	}
}
