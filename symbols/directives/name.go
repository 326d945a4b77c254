package directives

import "strings"

// directiveWords are the words with which an OpenMP 5.2 directive can start (false), or also
// continue (true). The text after the name is a clause. (Words like "ordered" and "flush" are
// clauses or arguments in any place but the first.)
var directiveWords = map[string]bool{
	"parallel": true, "for": true, "do": true, "simd": true, "sections": true, "workshare": true,
	"master": true, "masked": true, "taskloop": true, "teams": true, "distribute": true, "loop": true,
	"target": true, "task": true,

	"section": false, "single": false, "critical": false, "atomic": false, "ordered": false,
	"barrier": false, "flush": false, "taskwait": false, "taskgroup": false, "taskyield": false,
	"scope": false, "cancel": false, "cancellation": false, "threadprivate": false, "declare": false,
	"begin": false, "end": false, "requires": false, "allocate": false, "allocators": false,
	"depobj": false, "error": false, "scan": false, "interop": false, "dispatch": false, "nothing": false,
	"tile": false, "unroll": false, "assume": false, "assumes": false, "metadirective": false,
}

// followers are words that belong to the name only after certain first words.
var followers = map[string]string{
	"point": "cancellation", "data": "target", "enter": "target", "exit": "target", "update": "target",
	"sections": "cancel", "taskgroup": "cancel", "variant": "declare", "reduction": "declare", "mapper": "declare",
	"concurrent": "loop",
}

// splitDirective separates a directive's name from its clauses. text is the text after "#pragma
// omp" or "!$omp". It is on one line, and in lower case except for names.
func splitDirective(text string) (words []string, clauses string) {
	rest := text
	for {
		rest = strings.TrimLeft(rest, " \t,")
		n := 0
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		word := strings.ToLower(rest[:n])
		continues, known := directiveWords[word]
		if len(words) > 0 {
			known = continues || followers[word] != "" && followers[word] == words[0]
		}
		if n == 0 || !known {
			return words, rest
		}
		words = append(words, word)
		rest = rest[n:]
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// newDirective makes a Directive of its text. block says whether the directive governs a statement.
// ok is false if the text is no directive.
func newDirective(text string, begin, last int) (d Directive, block, ok bool) {
	words, clauses := splitDirective(text)
	if len(words) == 0 {
		return d, false, false
	}
	d = Directive{Words: strings.Join(words, " "), Begin: begin, Last: last, End: last,
		Clauses: strings.ToLower(strings.TrimSpace(clauses))}
	if inner, found := strings.CutPrefix(clauses, "("); found && words[0] == "critical" {
		name, _, _ := strings.Cut(inner, ")")
		d.Name = strings.TrimSpace(name)
	}
	return d, governs(words, strings.ToLower(clauses)), true
}

// governs reports whether a directive stands before a statement or block.
func governs(words []string, clauses string) bool {
	switch words[0] {
	case "barrier", "flush", "taskwait", "taskyield", "cancel", "cancellation", "threadprivate", "declare",
		"begin", "end", "requires", "allocate", "depobj", "error", "scan", "interop", "nothing", "assumes",
		"metadirective":
		return false
	case "ordered": // the forms with a dependence stand alone
		return !strings.HasPrefix(clauses, "depend") && !strings.HasPrefix(clauses, "doacross")
	case "target":
		return len(words) == 1 || words[1] != "enter" && words[1] != "exit" && words[1] != "update"
	}
	return true
}
