package regions

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// construct is a construct of the source. The test finds it in another way than the code under
// test: by indentation in C, by end directives in Fortran.
type construct struct {
	Type       string
	Name       string
	Begin, End int
	Sections   int
	Clauses    string
}

func (c construct) String() string {
	return fmt.Sprintf("%s %s %d-%d sections %d", c.Type, c.Name, c.Begin, c.End, c.Sections)
}

// readTruth lists the constructs of a test program.
func readTruth(t *testing.T, path string) (cs []construct) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	if filepath.Ext(path) == ".f90" {
		cs = fortranTruth(lines)
	} else {
		cs = cTruth(lines)
	}
	for i := range cs {
		for _, s := range cs {
			inner := slices.ContainsFunc(cs, func(x construct) bool {
				return strings.HasSuffix(x.Type, "SECTIONS") && x.Begin > cs[i].Begin && x.Begin < s.Begin && x.End >= s.End
			})
			if strings.HasSuffix(cs[i].Type, "SECTIONS") && s.Type == "SECTION" && cs[i].Begin < s.Begin && s.Begin <= cs[i].End && !inner {
				cs[i].Sections++
			}
		}
	}
	return slices.DeleteFunc(cs, func(c construct) bool { return c.Type == "SECTION" })
}

var (
	directiveWord = regexp.MustCompile(`^(parallel do|parallel for|parallel sections|parallel workshare|parallel|for|do|sections|section|single|workshare|master|masked|critical|ordered|barrier|atomic|flush|taskwait|task)\b(?: *\(([a-z]+)\))?(.*)`)
	standAlone    = regexp.MustCompile(`^(barrier|flush|taskwait|ordered depend)`)
)

func newConstruct(text string, line int) construct {
	m := directiveWord.FindStringSubmatch(text)
	if m == nil {
		panic("the test knows no directive " + text)
	}
	kind := strings.ToUpper(m[1])
	kind = strings.ReplaceAll(strings.ReplaceAll(kind, "FOR", "LOOP"), "DO", "LOOP")
	return construct{Type: kind, Name: m[2], Begin: line, End: line, Clauses: m[3]}
}

// cTruth finds constructs by the programs' indentation. A directive governs the lines that follow
// and are indented deeper than its first line, and the brace below these lines.
func cTruth(lines []string) (cs []construct) {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, "\t")) }
	for i, l := range lines {
		text, ok := strings.CutPrefix(l, "#pragma omp ")
		if !ok {
			continue
		}
		c := newConstruct(text, i+1)
		if !standAlone.MatchString(text) {
			first := i + 1
			for strings.HasPrefix(lines[first], "#pragma") {
				first++
			}
			c.End = first + 1
			for k := first + 1; k < len(lines); k++ {
				s := lines[k]
				if s == "" || strings.HasPrefix(s, "#pragma") {
					continue
				}
				if indent(s) < indent(lines[first]) || indent(s) == indent(lines[first]) && strings.TrimSpace(s)[0] != '}' &&
					!strings.HasPrefix(strings.TrimSpace(s), "} else") {
					break
				}
				c.End = k + 1
				if indent(s) == indent(lines[first]) && strings.TrimSpace(s) == "}" {
					break
				}
			}
		}
		cs = append(cs, c)
	}
	return cs
}

func fortranTruth(lines []string) (cs []construct) {
	for i, l := range lines {
		text, ok := strings.CutPrefix(strings.TrimSpace(l), "!$omp ")
		if !ok || strings.HasPrefix(text, "end ") {
			continue
		}
		c := newConstruct(text, i+1)
		switch c.Type {
		case "BARRIER", "FLUSH", "SECTION":
		case "ATOMIC":
			c.End++
		default:
			word := directiveWord.FindStringSubmatch(text)[1]
			for k := i; k < len(lines); k++ {
				if strings.HasPrefix(strings.TrimSpace(lines[k]), "!$omp end "+word) {
					c.End = k + 1
					break
				}
			}
		}
		cs = append(cs, c)
	}
	return cs
}
