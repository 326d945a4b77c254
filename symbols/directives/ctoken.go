package directives

import "strings"

type cKind uint8

const (
	cPunctuation cKind = iota
	cWordToken
	cPragma // text: what follows "omp"
	cIf     // #if, #ifdef, #ifndef; text: "0" for #if 0
	cElse   // #else, #elif, #elifdef, #elifndef
	cEndif
	cLiteral
)

// cToken is a token of C or C++. Literals have no text.
type cToken struct {
	kind       cKind
	text       string
	line, last int // last differs from line only for pragmas with continuation lines
}

// cScanner cuts text into tokens, without comments and most preprocessor lines.
type cScanner struct {
	text   string
	at     int
	line   int
	tokens []cToken
}

func cTokens(text string) []cToken {
	s := cScanner{text: text, line: 1}
	lineStart := true // only white space so far on this line
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == '\n':
			s.line++
			s.at++
			lineStart = true
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			s.at++
			continue
		case s.splice(), s.comment():
			continue
		case c == '#' && lineStart:
			s.at++
			s.preprocessor()
			continue
		case c == '"':
			s.quoted('"')
		case c == '\'':
			s.quoted('\'')
		case isWord(c):
			s.word()
		case strings.HasPrefix(s.text[s.at:], "::"): // not two label colons
			s.add(cLiteral, "")
			s.at += 2
		default:
			s.add(cPunctuation, s.text[s.at:s.at+1])
			s.at++
		}
		lineStart = false
	}
	return s.tokens
}

func (s *cScanner) add(k cKind, text string) {
	s.tokens = append(s.tokens, cToken{k, text, s.line, s.line})
}

// splice skips a backslash at the end of a line.
func (s *cScanner) splice() bool {
	n := spliceLen(s.text[s.at:])
	if n > 0 {
		s.at += n
		s.line++
	}
	return n > 0
}

func spliceLen(text string) int {
	switch {
	case strings.HasPrefix(text, "\\\n"):
		return 2
	case strings.HasPrefix(text, "\\\r\n"):
		return 3
	}
	return 0
}

// comment skips a comment. A line comment ends before its newline.
func (s *cScanner) comment() bool {
	switch rest := s.text[s.at:]; {
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			n = len(rest)
		} else {
			n += 4
		}
		s.line += strings.Count(rest[:n], "\n")
		s.at += n
		return true
	case strings.HasPrefix(rest, "//"):
		for s.at < len(s.text) && s.text[s.at] != '\n' {
			if !s.splice() {
				s.at++
			}
		}
		return true
	}
	return false
}

// quoted skips a string or character literal. An unclosed literal ends with its line.
func (s *cScanner) quoted(quote byte) {
	s.add(cLiteral, "")
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == quote:
			s.at++
			return
		case c == '\n':
			return
		case c == '\\' && s.at+1 < len(s.text):
			if n := spliceLen(s.text[s.at:]); n > 0 {
				s.line++
				s.at += n - 1
			} else if s.text[s.at+1] != '\n' {
				s.at++
			}
		}
	}
}

// word scans an identifier, keyword or number, and other things that start in the same way: raw
// strings and the _Pragma operator.
func (s *cScanner) word() {
	start := s.at
	number := s.text[s.at] >= '0' && s.text[s.at] <= '9'
	for s.at < len(s.text) && (isWord(s.text[s.at]) || number && s.digitSeparator()) {
		s.at++
	}
	w := s.text[start:s.at]
	rest := s.text[s.at:]
	switch {
	case number:
		s.add(cLiteral, "")
	case strings.HasPrefix(rest, `"`) && (w == "R" || w == "LR" || w == "uR" || w == "UR" || w == "u8R"):
		s.rawString()
	case w == "_Pragma" && s.pragmaOperator():
	default:
		s.add(cWordToken, w)
	}
}

// digitSeparator reports whether a ' inside a number belongs to it (C++14).
func (s *cScanner) digitSeparator() bool {
	return s.text[s.at] == '\'' && s.at+1 < len(s.text) && isWord(s.text[s.at+1])
}

// rawString skips R"x(...)x" from its quote on.
func (s *cScanner) rawString() {
	rest := s.text[s.at:]
	open := strings.IndexByte(rest, '(')
	if open < 0 || open > 17 { // the standard allows 16 characters
		s.quoted('"')
		return
	}
	closing := ")" + rest[1:open] + `"`
	n := strings.Index(rest[open:], closing)
	if n < 0 {
		n = len(rest)
	} else {
		n += open + len(closing)
	}
	s.add(cLiteral, "")
	s.line += strings.Count(rest[:n], "\n")
	s.at += n
}

// pragmaOperator scans ("omp ...") behind _Pragma.
func (s *cScanner) pragmaOperator() bool {
	rest := s.text[s.at:]
	open := strings.Index(rest, `("`)
	if open < 0 || strings.TrimSpace(rest[:open]) != "" {
		return false
	}
	text, _, closed := strings.Cut(rest[open+2:], `")`)
	if !closed || strings.Contains(rest[:open], "\n") || strings.Contains(text, "\n") {
		return false
	}
	if omp, ok := ompText(text); ok {
		s.add(cPragma, omp)
	}
	s.at += open + 2 + len(text) + 2
	return true
}

// preprocessor scans a line after its #, with continuation lines.
func (s *cScanner) preprocessor() {
	first := s.line
	var b strings.Builder
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		if s.splice() || s.comment() {
			b.WriteByte(' ')
			continue
		}
		b.WriteByte(s.text[s.at])
		s.at++
	}
	line := strings.TrimSpace(b.String())
	n := 0
	for n < len(line) && isWord(line[n]) {
		n++
	}
	kind, text := cLiteral, ""
	switch line[:n] {
	case "if", "ifdef", "ifndef":
		kind, text = cIf, strings.TrimSpace(line[n:])
	case "else", "elif", "elifdef", "elifndef":
		kind = cElse
	case "endif":
		kind = cEndif
	case "pragma":
		omp, ok := pragmaText(line)
		if !ok {
			return
		}
		kind, text = cPragma, omp
	default:
		return
	}
	s.tokens = append(s.tokens, cToken{kind, text, first, s.line})
}
