package directives

import "strings"

// cDirectives finds the OpenMP pragmas of C or C++ text and the end of the
// statement that follows each.
func cDirectives(text string) (ds []Directive) {
	p := cParser{tokens: cTokens(text)}
	// Each pragma's statement is scanned by itself. With very deep nesting that would take
	// quadratic time. The bound prevents it.
	p.budget = 64*len(p.tokens) + 1<<16
	for i, t := range p.tokens {
		if t.kind != cPragma {
			continue
		}
		d, block, ok := newDirective(t.text, t.line, t.last)
		if !ok {
			continue
		}
		if block {
			p.at, p.depth = i+1, 0
			if !p.textEnds() {
				end, ok := p.statement()
				if !ok {
					continue
				}
				d.End = max(end, d.Last)
			}
		}
		ds = append(ds, d)
	}
	return ds
}

// cParser follows the structure of statements, as far as is needed to find their ends.
type cParser struct {
	tokens []cToken
	at     int
	depth  int // of nested statements
	budget int // tokens that may still be looked at
}

const maxNesting = 500

// next returns the next token of the text. If a conditional starts here, next takes its first
// branch (the second of "#if 0"). Inside of a conditional, it stays in the parser's branch.
// Brackets may not balance over both branches together.
func (p *cParser) next() (cToken, bool) {
	for p.at < len(p.tokens) && p.budget > 0 {
		t := p.tokens[p.at]
		p.at++
		p.budget--
		switch t.kind {
		case cIf:
			if t.text == "0" {
				p.skipBranch(true)
			}
		case cElse:
			p.skipBranch(false)
		case cEndif:
		default:
			return t, true
		}
	}
	return cToken{}, false
}

// skipBranch moves behind the #endif of the current conditional, or, if
// stopAtElse, behind its next #else or #elif.
func (p *cParser) skipBranch(stopAtElse bool) {
	for depth := 0; p.at < len(p.tokens) && p.budget > 0; {
		k := p.tokens[p.at].kind
		p.at++
		p.budget--
		switch {
		case k == cIf:
			depth++
		case k == cEndif && depth == 0, k == cElse && depth == 0 && stopAtElse:
			return
		case k == cEndif:
			depth--
		}
	}
}

// peek returns the next token without consuming it.
func (p *cParser) peek() (cToken, bool) {
	t, ok := p.next()
	if ok {
		p.at--
	}
	return t, ok
}

// textEnds reports whether the text ends before a statement begins: some programs keep directives
// in a file of their own, and include this file before the statement. A spent budget is no end.
func (p *cParser) textEnds() bool {
	at := p.at
	defer func() { p.at = at }()
	for {
		t, more := p.next()
		if !more {
			return p.budget > 0
		}
		if t.kind != cPragma {
			return false
		}
		if _, block, known := newDirective(t.text, t.line, t.last); known && !block {
			return false
		}
	}
}

// statement consumes one statement and returns its last line.
func (p *cParser) statement() (end int, ok bool) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		return 0, false
	}
	t, ok := p.next()
	if !ok {
		return 0, false
	}
	switch {
	case t.kind == cPragma:
		d, block, known := newDirective(t.text, t.line, t.last)
		if known && !block {
			return d.Last, true
		}
		return p.statement()
	case t.text == "{":
		return p.close("{")
	case t.text == ";":
		return t.line, true
	case t.kind != cWordToken:
		return p.expression(t)
	}
	if end, ok, is := p.keyword(t.text); is {
		return end, ok
	}
	if n, more := p.peek(); more && n.text == ":" { // a label
		p.next()
		return p.statement()
	}
	return p.expression(t)
}

// keyword consumes the rest of a statement that begins with a keyword. is tells whether word is
// such a keyword.
func (p *cParser) keyword(word string) (end int, ok, is bool) {
	switch word {
	case "for", "while", "switch":
		if p.condition() {
			end, ok = p.statement()
		}
	case "if":
		end, ok = p.ifStatement()
	case "do":
		if _, ok = p.statement(); ok {
			end, ok = p.expression(cToken{})
		}
	case "try":
		end, ok = p.tryStatement()
	case "case", "default":
		if p.label() {
			end, ok = p.statement()
		}
	default:
		return 0, false, false
	}
	return end, ok, true
}

// ifStatement consumes the rest of an if, and its else.
func (p *cParser) ifStatement() (end int, ok bool) {
	if !p.condition() {
		return 0, false
	}
	end, ok = p.statement()
	if n, more := p.peek(); ok && more && n.text == "else" {
		p.next()
		return p.statement()
	}
	return end, ok
}

// tryStatement consumes the rest of a try, and its catches.
func (p *cParser) tryStatement() (end int, ok bool) {
	end, ok = p.statement()
	for ok {
		n, more := p.peek()
		if !more || n.text != "catch" {
			break
		}
		p.next()
		if !p.condition() {
			return 0, false
		}
		end, ok = p.statement()
	}
	return end, ok
}

// label consumes the rest of a case, up to its colon.
func (p *cParser) label() bool {
	for {
		n, more := p.next()
		if !more || n.text == "}" || n.text == ";" {
			return false
		}
		if n.text == ":" {
			return true
		}
	}
}

// condition consumes the part between a keyword and its statement, as in for (...) and if constexpr
// (...).
func (p *cParser) condition() bool {
	t, ok := p.next()
	for ok && t.kind == cWordToken {
		t, ok = p.next()
	}
	if !ok || t.text != "(" {
		return false
	}
	_, ok = p.close("(")
	return ok
}

// close consumes the tokens up to the partner of an opening bracket that was already consumed.
func (p *cParser) close(open string) (line int, ok bool) {
	stack := []byte{open[0]}
	for {
		t, ok := p.next()
		if !ok {
			return 0, false
		}
		if t.kind != cPunctuation {
			continue
		}
		switch c := t.text[0]; c {
		case '(', '[', '{':
			stack = append(stack, c)
		case ')', ']', '}':
			if partner := map[byte]byte{')': '(', ']': '[', '}': '{'}[c]; stack[len(stack)-1] != partner {
				return 0, false
			}
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				return t.line, true
			}
		}
	}
}

// expression consumes an expression or declaration up to its semicolon. first is its first token,
// which is already consumed, or an empty token. A block right after NAME(...) ends it, too: such a
// macro hides a loop.
func (p *cParser) expression(first cToken) (end int, ok bool) {
	const (
		start = iota
		name
		call
		other
	)
	state := start
	for t := first; ; {
		if t.text != "" {
			switch {
			case t.text == ";" && t.kind == cPunctuation:
				return t.line, true
			case t.text == "{" && state == call:
				return p.close("{")
			case t.text == "(" || t.text == "[" || t.text == "{":
				if _, ok := p.close(t.text); !ok {
					return 0, false
				}
				if t.text == "(" && state == name {
					state = call
				} else {
					state = other
				}
			case t.text == ")" || t.text == "]" || t.text == "}":
				return 0, false
			case t.kind == cWordToken && state == start:
				state = name
			default:
				state = other
			}
		}
		t, ok = p.next()
		if !ok {
			return 0, false
		}
	}
}

// pragmaText returns the directive text of a preprocessor line's contents, if
// it is an OpenMP pragma.
func pragmaText(line string) (string, bool) {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "pragma")
	if !ok || line == "" || isWord(line[0]) {
		return "", false
	}
	return ompText(line)
}

// ompText removes the word omp, with which the text must start.
func ompText(s string) (string, bool) {
	s, ok := strings.CutPrefix(strings.TrimSpace(s), "omp")
	if !ok || s == "" || isWord(s[0]) {
		return "", false
	}
	return s, true
}
