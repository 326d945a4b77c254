package testbin

import (
	"bufio"
	"regexp"
	"strconv"
	"strings"
)

// Marks are the line numbers of "begin X" and "end X" comments in a source file. A number behind
// the name is added to the line.
type Marks struct{ Begin, End map[string]int }

var mark = regexp.MustCompile(`(begin|end|call) ([a-z]\w*)( -?\d+)?`)

// MarksIn finds the marks in a source's text.
func MarksIn(text string) Marks {
	m := Marks{map[string]int{}, map[string]int{}}
	s := bufio.NewScanner(strings.NewReader(text))
	for n := 1; s.Scan(); n++ {
		at := strings.LastIndex(s.Text(), "// ")
		if b := strings.LastIndex(s.Text(), "! "); at < 0 {
			at = b
		}
		if at < 0 {
			continue
		}
		for _, f := range mark.FindAllStringSubmatch(s.Text()[at:], -1) {
			add, _ := strconv.Atoi(strings.TrimSpace(f[3]))
			to := m.Begin
			if f[1] == "end" {
				to = m.End
			}
			to[f[2]] = n + add
		}
	}
	return m
}
