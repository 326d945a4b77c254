package trigger

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/perfcounters"
	"ompp-attach/timeline"
)

// ErrCondition says that a condition cannot be understood.
var ErrCondition = errors.New("not a condition")

// Condition says which executions of some constructs are looked for.
type Condition struct {
	Text string // as the user wrote it

	constructs  event.Constructs
	call        string // name of an MPI operation; empty: all executions of the constructs
	left, right *perfcounters.Formula
	holds       func(l, r float64) bool
}

// figures are the names that a formula may use for the parts of an execution, in s.
var figures = map[string]int{"ENTERT": timeline.Enter, "BODYT": timeline.Body, "BARRT": timeline.Barrier, "EXITT": timeline.Exit}

var names = []string{"ENTERT", "BODYT", "BARRT", "EXITT"}

// Parse reads 'CONSTRUCT: FORMULA > FORMULA', with >, <, >= or <=. CONSTRUCT is a construct as
// reports name it, a word of --disable, mpi, an MPI operation, or any. The formulas are those of
// perfcounters.ParseFormula, with times as 10ms, over the figures of one execution: EXECT, ENTERT,
// BODYT, BARRT and EXITT, in s. The error wraps ErrCondition, and is one sentence.
func Parse(text string) (*Condition, error) {
	what, rest, ok := strings.Cut(text, ":")
	if !ok {
		return nil, fmt.Errorf("%w: --when %q: write 'CONSTRUCT: FORMULA > LIMIT', as in 'barrier: EXECT > 10ms'", ErrCondition, text)
	}
	c := &Condition{Text: text}
	if err := c.selects(strings.TrimSpace(what)); err != nil {
		return nil, err
	}
	l, op, r, ok := perfcounters.CutComparison(rest)
	if !ok {
		return nil, fmt.Errorf("%w: --when %q compares nothing: it needs one of > < >= <=, as in 'barrier: EXECT > 10ms'", ErrCondition, text)
	}
	var err1, err2 error
	c.holds = op.Holds
	c.left, err1 = formula(l)
	c.right, err2 = formula(r)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("%w: --when %q: a formula has numbers, times as 10ms, EXECT, ENTERT, BODYT, BARRT, EXITT, + - * / and parentheses", ErrCondition, text)
	}
	return c, nil
}

// selects finds the constructs that a word means.
func (c *Condition) selects(word string) error {
	_, isOp := mpi.ParseOp(word)
	lower := strings.ToLower(word)
	for _, k := range event.AllConstructs() {
		t := k.Traits()
		switch {
		case isOp && k == event.MPI, lower == "any", strings.ToLower(t.Name) == lower, t.Selector == lower && lower != "":
			c.constructs |= event.SetOf(k)
		}
	}
	if isOp {
		c.call = word
	}
	if c.constructs == 0 {
		return fmt.Errorf("%w: --when %q: %q is no construct; there are barrier, critical, loop, parallel, task and others that reports name, mpi, MPI operations like MPI_Recv, and any", ErrCondition, c.Text, word)
	}
	return nil
}

// withUnit is a time as users write it.
var withUnit = regexp.MustCompile(`\b(\d+\.?\d*(?:[eE][+-]?\d+)?)(ns|us|ms|s)\b`)

var exponents = map[string]string{"ns": "1e-9", "us": "1e-6", "ms": "1e-3", "s": "1"}

func formula(text string) (*perfcounters.Formula, error) {
	text = withUnit.ReplaceAllStringFunc(text, func(t string) string {
		m := withUnit.FindStringSubmatch(t)
		return "(" + m[1] + "*" + exponents[m[2]] + ")"
	})
	return perfcounters.ParseFormula("x="+text, names)
}

// Folded tells whether the kernel side may add up executions of all the condition's constructs.
// Then single executions are not known.
func (c *Condition) Folded() bool {
	for _, k := range event.AllConstructs() {
		if c.constructs.Has(k) && !k.Traits().Fold {
			return false
		}
	}
	return true
}

// covers tells whether executions of a node are meant.
func (c *Condition) covers(d *timeline.Definition) bool {
	return c.constructs.Has(d.Construct) && (c.call == "" || c.call == d.Name)
}

// Holds tells whether a span is an execution that fulfils the condition.
func (c *Condition) Holds(s *timeline.Span) bool {
	if s.Kind != timeline.Execution && s.Kind != timeline.Call || s.Flags&timeline.Unseen != 0 {
		return false
	}
	value := func(name string) (float64, bool) {
		switch i, part := figures[name]; {
		case part:
			return float64(s.Parts[i].T) / 1e9, true
		case name == perfcounters.ExecT:
			return float64(s.Exec.T) / 1e9, true
		}
		return float64(s.Exec.C), true
	}
	l, ok1 := c.left.Eval(value)
	r, ok2 := c.right.Eval(value)
	return ok1 && ok2 && c.holds(l, r)
}
