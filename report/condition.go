package report

import (
	"errors"
	"fmt"
	"strings"

	"ompp-attach/perfcounters"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// ErrCondition says that a property of the user's own cannot be understood.
var ErrCondition = errors.New("not a property")

// ParseCondition reads 'NAME: FORMULA > FORMULA', with >, <, >= or <=, a property of the user's
// own. Formulas are those of perfcounters.ParseFormula over the names of counters. The error wraps
// ErrCondition, or that package's ErrFormula.
func ParseCondition(text string, counters []string) (c severity.Condition, err error) {
	name, rest, ok := strings.Cut(text, ":")
	c = severity.Condition{Name: strings.TrimSpace(name), Text: strings.TrimSpace(rest)}
	if !ok || c.Name == "" || strings.Contains(name, "=") {
		return c, fmt.Errorf("%w: %q: write 'NAME: FORMULA > NUMBER', as in 'LowIPC: instructions/cycles < 0.5'", ErrCondition, text)
	}
	l, op, r, ok := perfcounters.CutComparison(rest)
	if !ok {
		return c, fmt.Errorf("%w: %q compares nothing: it needs one of > < >= <=, as in 'LowIPC: instructions/cycles < 0.5'", ErrCondition, text)
	}
	if l == "" || r == "" {
		return c, fmt.Errorf("%w: %q has nothing on one side of %s: write 'NAME: FORMULA > NUMBER', as in 'LowIPC: instructions/cycles < 0.5'", ErrCondition, text, op.Text)
	}
	left, err := perfcounters.ParseFormula(c.Name+"="+l, counters)
	if err != nil {
		return c, fmt.Errorf("property %q: %w", text, err)
	}
	right, err := perfcounters.ParseFormula(c.Name+"="+r, counters)
	if err != nil {
		return c, fmt.Errorf("property %q: %w", text, err)
	}
	c.Holds = func(p *profile.Profile, s *profile.ThreadStats) bool {
		x, ok1 := evaluate(p, left, s)
		y, ok2 := evaluate(p, right, s)
		return ok1 && ok2 && op.Holds(x, y)
	}
	return c, nil
}
