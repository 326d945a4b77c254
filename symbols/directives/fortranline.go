package directives

import "strings"

// fortranLine is a line of code, or a directive with its continuation lines.
type fortranLine struct {
	text       string // without comment; of a directive, the text after $omp
	line, last int
	directive  bool
	continues  bool // a continuation line of code; text is not needed
}

// fortranLines separates directives from code, in free or fixed form.
func fortranLines(text string, fixed bool) (lines []fortranLine) {
	var pending *fortranLine // directive that a continuation line may extend
	open := false            // the last code line ended with &
	n := 0
	for raw := range strings.SplitSeq(text, "\n") {
		n++
		raw = strings.TrimRight(raw, " \t\r")
		if omp, more, ok := sentinel(raw, fixed); ok {
			if pending != nil && (more || !fixed && strings.HasSuffix(pending.text, "&")) {
				pending.text = strings.TrimRight(strings.TrimSuffix(pending.text, "&"), " \t") + " " + omp
				pending.last = n
			} else {
				lines = append(lines, fortranLine{text: omp, line: n, last: n, directive: true})
				pending = &lines[len(lines)-1]
			}
			continue
		}
		if isFortranComment(raw, fixed) {
			continue
		}
		pending = nil
		code := strings.TrimSpace(cutFortranComment(raw))
		if code == "" {
			continue
		}
		continues := open
		if fixed {
			continues = len(raw) > 5 && strings.TrimSpace(raw[:5]) == "" && raw[5] != ' ' && raw[5] != '0' && !strings.Contains(raw[:5], "\t")
		}
		open = !fixed && strings.HasSuffix(code, "&")
		lines = append(lines, fortranLine{text: code, line: n, last: n, continues: continues})
	}
	for i := range lines {
		if lines[i].directive {
			lines[i].text = strings.TrimSpace(strings.TrimSuffix(lines[i].text, "&"))
		}
	}
	return lines
}

// sentinel recognises !$omp, and in fixed form also c$omp and *$omp from column 1. more says that
// this is a continuation line. It has a mark in column 6, or a leading & in free form.
func sentinel(raw string, fixed bool) (text string, more, ok bool) {
	s := raw
	if !fixed {
		s = strings.TrimLeft(raw, " \t")
	}
	if len(s) < 5 || !strings.EqualFold(s[1:5], "$omp") {
		return "", false, false
	}
	if first := s[0]; first != '!' && !(fixed && (first == 'c' || first == 'C' || first == '*')) {
		return "", false, false
	}
	rest := s[5:]
	if fixed {
		if rest == "" {
			return "", false, true
		}
		// Column 6 is blank or 0 on a first line.
		return strings.TrimSpace(cutFortranComment(rest[1:])), rest[0] != ' ' && rest[0] != '0' && rest[0] != '\t', true
	}
	if rest != "" && isWord(rest[0]) { // !$ompx
		return "", false, false
	}
	rest = strings.TrimSpace(cutFortranComment(rest))
	rest, more = strings.CutPrefix(rest, "&")
	return strings.TrimSpace(rest), more, true
}

func isFortranComment(raw string, fixed bool) bool {
	if raw == "" || raw[0] == '#' { // empty, or for the preprocessor
		return true
	}
	if fixed && strings.IndexByte("cC*!dD", raw[0]) >= 0 {
		return true
	}
	s := strings.TrimLeft(raw, " \t")
	return s == "" || s[0] == '!'
}

// cutFortranComment removes a trailing comment, with regard to quotes. It blanks out the contents
// of strings, so that their text is not taken for code.
func cutFortranComment(s string) string {
	b := []byte(s)
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b[i] = '_'
		case c == '\'' || c == '"':
			quote = c
		case c == '!':
			return strings.TrimRight(string(b[:i]), " \t")
		}
	}
	return string(b)
}

// expandWords separates the words of a directive's name, which Fortran allows to be written as one:
// enddo, paralleldo, endparallelsections.
func expandWords(text string) string {
	rest := strings.TrimLeft(text, " \t")
	var out []string
	for {
		n := 0
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		words := segment(strings.ToLower(rest[:n]))
		if words == nil {
			return strings.Join(append(out, rest), " ")
		}
		out = append(out, words...)
		rest = strings.TrimLeft(rest[n:], " \t")
	}
}

// segment splits a word into known directive words; nil: that is impossible.
func segment(word string) []string {
	if word == "" || len(word) > 64 {
		return nil
	}
	if _, ok := directiveWords[word]; ok || followers[word] != "" {
		return []string{word}
	}
	for n := len(word) - 1; n > 1; n-- {
		if _, ok := directiveWords[word[:n]]; !ok && followers[word[:n]] == "" {
			continue
		}
		if tail := segment(word[n:]); tail != nil {
			return append([]string{word[:n]}, tail...)
		}
	}
	return nil
}
