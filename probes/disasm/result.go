package disasm

import "strings"

// ResultTest says how the code behind a call has tested the call's result,
// which is 0 or 1 (al, w0).
type ResultTest uint8

// The tests of a result.
const (
	NotTested     ResultTest = iota
	TestedForZero            // test al, al, cmp al, 0: the zero flag is set for 0
	ComparedToOne            // cmp al, 1: the zero flag is set for 1
	Decided                  // a conditional jump has decided by the test
)

// Behind returns the test that is known behind an instruction which is no jump.
func (t ResultTest) Behind(i *Inst) ResultTest {
	text := strings.ToLower(i.Text())
	switch {
	case t != NotTested:
	case strings.HasPrefix(text, "test"), strings.HasPrefix(text, "tst"):
		return TestedForZero
	case strings.HasPrefix(text, "cmp") && (strings.Contains(text, "$0x0,") || strings.HasSuffix(text, "#0x0")):
		return TestedForZero
	case strings.HasPrefix(text, "cmp"):
		return ComparedToOne
	}
	return t
}

// TakenForZero reports whether a conditional jump behind the test is taken if the result is 0. The
// jump may test the result itself (arm64: cbz, tbz). ok is false if that is not known.
func (t ResultTest) TakenForZero(jump *Inst) (taken, ok bool) {
	word, _, _ := strings.Cut(strings.ToLower(jump.Text()), " ")
	switch {
	case t == NotTested && (word == "cbz" || word == "tbz"):
		return true, true
	case t == NotTested && (word == "cbnz" || word == "tbnz"):
		return false, true
	case t != TestedForZero && t != ComparedToOne, jump.Cond != Equal && jump.Cond != NotEqual:
		return false, false
	}
	return (t == TestedForZero) == (jump.Cond == Equal), true
}
