package perfcounters

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The names besides counters that a formula may use, as in ompP's evaluators.
const (
	// The region's time in s, as measured, since counters include the probes as well.
	ExecT = "EXECT"
	ExecC = "EXECC" // number of executions of the region
)

// Formula is an evaluator: a figure that is computed from counters, time and number of executions
// of a region (ompP: OMPP_EVALn).
type Formula struct {
	Name string   // heading of its column
	Text string   // as the user wrote it
	Uses []string // names in it, counters, EXECT or EXECC, each once
	tree ast.Expr
	vars map[string]string // by identifier in tree: the name that it stands for
}

// ErrFormula says that a formula cannot be understood.
var ErrFormula = errors.New("not a formula")

// ParseFormula reads 'NAME=EXPRESSION', or an expression alone, which is then its own name. An
// expression has numbers, + - * /, parentheses, the given names, EXECT and EXECC. Names may have
// characters as in perf (cache-misses). The longest text that is a name counts, so a minus between
// two names needs a blank before it. The error wraps ErrFormula.
func ParseFormula(text string, names []string) (*Formula, error) {
	f := &Formula{Text: text, vars: map[string]string{}}
	name, expr, ok := strings.Cut(text, "=")
	if !ok {
		name, expr = text, text
	}
	if f.Name = strings.TrimSpace(name); f.Name == "" {
		return nil, fmt.Errorf("%w: %q has no name: write NAME=EXPRESSION, as in 'IPC=instructions/cycles'", ErrFormula, text)
	}
	if strings.TrimSpace(expr) == "" {
		return nil, fmt.Errorf("%w: %q has nothing behind its name: write NAME=EXPRESSION, as in 'IPC=instructions/cycles'", ErrFormula, text)
	}
	known := append(slices.Clone(names), ExecT, ExecC)
	// From a damaged profile.
	known = slices.DeleteFunc(known, func(k string) bool { return k == "" })
	slices.SortFunc(known, func(a, b string) int { return len(b) - len(a) })
	var goText strings.Builder
	for rest := expr; rest != ""; {
		i := slices.IndexFunc(known, func(k string) bool { return begins(rest, k) })
		if i >= 0 {
			id := "v" + strconv.Itoa(i)
			f.vars[id] = known[i]
			if !slices.Contains(f.Uses, known[i]) {
				f.Uses = append(f.Uses, known[i])
			}
			goText.WriteString(" " + id + " ")
			rest = rest[len(known[i]):]
			continue
		}
		if isLetter(rest[0]) {
			word := rest[:strings.IndexFunc(rest+" ", func(r rune) bool { return strings.ContainsRune(" +*/()", r) })]
			return nil, fmt.Errorf("%w: %q uses %s, which is not counted%s; measure with it among --counters", ErrFormula, text, word, offer(word, known))
		}
		// A number is taken in one piece, with its exponent.
		n := 1
		if rest[0] >= '0' && rest[0] <= '9' {
			for n < len(rest) && (strings.ContainsRune("0123456789.eE", rune(rest[n])) ||
				(rest[n] == '-' || rest[n] == '+') && (rest[n-1] == 'e' || rest[n-1] == 'E')) {
				n++
			}
		}
		goText.WriteString(rest[:n])
		rest = rest[n:]
	}
	tree, err := parser.ParseExpr(goText.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %q: check its operators and parentheses", ErrFormula, text)
	}
	f.tree = tree
	if err := f.check(tree); err != nil {
		return nil, err
	}
	return f, nil
}

// begins tells whether s begins with the whole name, which must not go on.
func begins(s, name string) bool {
	return strings.HasPrefix(s, name) && (len(s) == len(name) || !isLetter(s[len(name)]) && (s[len(name)] < '0' || s[len(name)] > '9'))
}

func isLetter(b byte) bool { return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' }

// check refuses expressions that are more than arithmetic.
func (f *Formula) check(e ast.Expr) error {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.check(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.SUB || e.Op == token.ADD {
			return f.check(e.X)
		}
	case *ast.BinaryExpr:
		if e.Op == token.QUO && isZero(e.Y) {
			return fmt.Errorf("%w: %q divides by zero", ErrFormula, f.Text)
		}
		if strings.Contains("+-*/", e.Op.String()) {
			return errors.Join(f.check(e.X), f.check(e.Y))
		}
	case *ast.Ident:
		if _, ok := f.vars[e.Name]; ok {
			return nil
		}
	case *ast.BasicLit:
		if _, err := strconv.ParseFloat(e.Value, 64); err == nil && e.Kind != token.STRING {
			return nil
		}
	}
	return fmt.Errorf("%w: %q: there are numbers, names, + - * / and parentheses", ErrFormula, f.Text)
}

func isZero(e ast.Expr) bool {
	l, ok := e.(*ast.BasicLit)
	if !ok {
		return false
	}
	v, err := strconv.ParseFloat(l.Value, 64)
	return err == nil && v == 0
}

// Eval computes the formula. value returns the value of a name; its ok is false if the value is not
// known. ok is false if a value is not known or the formula divides by zero.
func (f *Formula) Eval(value func(name string) (float64, bool)) (v float64, ok bool) {
	v, ok = f.eval(f.tree, value)
	return v, ok && !math.IsInf(v, 0) && !math.IsNaN(v)
}

func (f *Formula) eval(e ast.Expr, value func(string) (float64, bool)) (float64, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.eval(e.X, value)
	case *ast.UnaryExpr:
		v, ok := f.eval(e.X, value)
		if e.Op == token.SUB {
			v = -v
		}
		return v, ok
	case *ast.BinaryExpr:
		x, ok1 := f.eval(e.X, value)
		y, ok2 := f.eval(e.Y, value)
		if !ok1 || !ok2 {
			return 0, false
		}
		switch e.Op {
		case token.ADD:
			return x + y, true
		case token.SUB:
			return x - y, true
		case token.MUL:
			return x * y, true
		default:
			return x / y, y != 0
		}
	case *ast.Ident:
		return value(f.vars[e.Name])
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(e.Value, 64)
		return v, err == nil
	}
	return 0, false
}
