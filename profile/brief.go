package profile

import (
	"strings"
	"unicode"
)

// longArguments is the length from which on template arguments are left out of a name.
const longArguments = 24

// Brief shortens the name of a C++ function for tables: template arguments that are long, as those
// of the standard library's types, become <...>.
func Brief(function string) string {
	var b strings.Builder
	for text := function; ; {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			return b.String() + text
		}
		n := argumentsEnd(text[at:])
		before := strings.TrimRight(b.String()+text[:at], "<")
		switch {
		case n == 0 || !named(before) || strings.HasSuffix(before, "operator"):
			b.WriteString(text[:at+1])
			text = text[at+1:]
		case n > longArguments:
			b.WriteString(text[:at] + "<...>")
			text = text[at+n:]
		default:
			b.WriteString(text[:at+n])
			text = text[at+n:]
		}
	}
}

// named reports whether text ends in a name: only then arguments may follow.
func named(text string) bool {
	return text != "" && (text[len(text)-1] == '_' || unicode.In(rune(text[len(text)-1]), unicode.L, unicode.N))
}

// argumentsEnd returns the length of the template arguments at the beginning of text, 0 if their
// brackets do not balance.
func argumentsEnd(text string) int {
	depth := 0
	for i, r := range text {
		switch {
		case r == '<':
			depth++
		case r == '>' && !strings.HasSuffix(text[:i], "-"):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
