package perfcounters

import "strings"

// Comparison is an operator that compares two figures.
type Comparison struct {
	Text  string // as the user writes it
	Holds func(l, r float64) bool
}

// comparisons are the operators, the longer ones first.
var comparisons = []Comparison{
	{">=", func(l, r float64) bool { return l >= r }},
	{"<=", func(l, r float64) bool { return l <= r }},
	{">", func(l, r float64) bool { return l > r }},
	{"<", func(l, r float64) bool { return l < r }},
}

// CutComparison cuts a text at its operator. left and right have no blanks around them. ok is false
// if there is no operator.
func CutComparison(text string) (left string, op Comparison, right string, ok bool) {
	for _, op := range comparisons {
		if l, r, ok := strings.Cut(text, op.Text); ok {
			return strings.TrimSpace(l), op, strings.TrimSpace(r), true
		}
	}
	return "", Comparison{}, "", false
}
