package directives

import (
	"regexp"
	"slices"
	"strings"
)

// fortranDirectives finds the OpenMP directives of Fortran text. For each, it also finds the end
// directive, loop or statement that closes it.
func fortranDirectives(text string, fixed bool) []Directive {
	p := fortranParser{grown: -1}
	for _, l := range fortranLines(text, fixed) {
		switch {
		case l.continues:
			if p.grown >= 0 {
				p.done[p.grown].End = l.line
			}
		case l.directive:
			p.directive(l)
		default:
			for s := range strings.SplitSeq(l.text, ";") {
				p.statement(strings.ToLower(strings.TrimSpace(s)), l.line)
			}
		}
		p.lastLine = l.last
	}
	p.closeEnded()
	slices.SortStableFunc(p.done, func(a, b Directive) int { return a.Begin - b.Begin })
	return p.done
}

// fortranParser holds the constructs that are open.
type fortranParser struct {
	open     []construct
	loops    []loop
	done     []Directive
	grown    int // index in done of a statement that a continuation line lengthens; or -1
	lastLine int // last line of the previous statement or directive
}

// construct is a directive whose end has not been seen.
type construct struct {
	Directive
	state constructState
}

type constructState uint8

const (
	needsEnd       constructState = iota // an end directive must come
	needsStatement                       // ends with the next statement
	needsLoop                            // governs the next do loop
	inLoop
	mayEnd // complete; End is right, unless an end directive follows directly
)

// loop is an open do loop. It has the statement label that ends the loop. It also has the number of
// innermost constructs in state inLoop that end with the loop.
type loop struct {
	label    string
	governed int
}

func (p *fortranParser) directive(l fortranLine) {
	text := expandWords(l.text)
	if end, ok := strings.CutPrefix(text, "end "); ok {
		words, clauses := splitDirective(end)
		if p.grown >= 0 && len(words) > 0 && words[0] == "atomic" {
			p.done[p.grown].End = l.last
		}
		p.end(strings.Join(words, " "), clauses, l.last)
		p.grown = -1
		return
	}
	p.grown = -1
	p.closeEnded()
	d, block, ok := newDirective(strings.ToLower(text), l.line, l.last)
	if !ok {
		return
	}
	if d.Words == "section" {
		p.endSection()
	}
	if !block {
		p.done = append(p.done, d)
		return
	}
	p.open = append(p.open, construct{d, firstState(d.Words, strings.ToLower(text))})
}

func firstState(words, text string) constructState {
	fields := strings.Fields(words)
	switch {
	case fields[0] == "atomic" && !strings.Contains(text, "capture"):
		return needsStatement
	case fields[0] == "ordered":
		return needsEnd
	case slices.ContainsFunc(fields, func(w string) bool {
		return w == "do" || w == "simd" || w == "taskloop" || w == "distribute" || w == "loop" || w == "tile" || w == "unroll"
	}):
		return needsLoop
	}
	return needsEnd
}

// end closes the innermost construct with this name.
func (p *fortranParser) end(words, clauses string, line int) {
	for i := len(p.open) - 1; i >= 0; i-- {
		if p.open[i].Words != words {
			continue
		}
		d := p.open[i].Directive
		d.End = line
		d.Clauses = strings.TrimSpace(d.Clauses + " " + strings.ToLower(clauses))
		p.drop(i + 1)
		p.open = p.open[:i]
		p.done = append(p.done, d)
		return
	}
	p.closeEnded()
}

// drop discards the constructs from index i on. It keeps those with an end that is known without an
// end directive.
func (p *fortranParser) drop(i int) {
	for _, c := range p.open[i:] {
		switch {
		case c.state == mayEnd:
			p.done = append(p.done, c.Directive)
		case c.Words == "section":
			c.End = max(p.lastLine, c.Last)
			p.done = append(p.done, c.Directive)
		}
	}
	p.open = p.open[:i]
}

// endSection ends the previous section of the open sections construct.
func (p *fortranParser) endSection() {
	for i := len(p.open) - 1; i >= 0; i-- {
		switch w := p.open[i].Words; {
		case w == "section":
			p.drop(i)
			return
		case strings.HasSuffix(w, "sections"):
			return
		}
	}
}

// closeEnded closes constructs that only an end directive could still have made longer.
func (p *fortranParser) closeEnded() {
	for n := len(p.open); n > 0 && p.open[n-1].state == mayEnd; n-- {
		p.drop(n - 1)
	}
}

var (
	labelled = regexp.MustCompile(`^([0-9]+)\s*(.*)$`)
	doStart  = regexp.MustCompile(`^([a-z_]\w*\s*:\s*)?do(\s*$|\s+[a-z_]\w*\s*=|\s*([0-9]+)\s*(,?\s*[a-z_]\w*\s*=|,?\s*while\b|$)|\s*while\s*\(|\s+concurrent\b)`)
	doEnd    = regexp.MustCompile(`^end\s*do(\s+\w+)?$`)
)

func (p *fortranParser) statement(s string, line int) {
	p.grown = -1
	if s == "" {
		return
	}
	p.closeEnded()
	label := ""
	if m := labelled.FindStringSubmatch(s); m != nil {
		label, s = m[1], m[2]
	}
	top := len(p.open) - 1
	if m := doStart.FindStringSubmatch(s); m != nil {
		governed := 0
		for ; top >= 0 && p.open[top].state == needsLoop; top-- {
			p.open[top].state = inLoop
			governed++
		}
		p.loops = append(p.loops, loop{m[3], governed})
		return
	}
	if top >= 0 && p.open[top].state == needsStatement {
		d := p.open[top].Directive
		d.End = line
		p.open = p.open[:top]
		p.done = append(p.done, d)
		p.grown = len(p.done) - 1
	}
	switch {
	case doEnd.MatchString(s):
		p.closeLoop(line)
	case label != "":
		for n := len(p.loops); n > 0 && p.loops[n-1].label == label; n-- {
			p.closeLoop(line)
		}
	}
}

// closeLoop ends the innermost loop and the constructs that govern it.
func (p *fortranParser) closeLoop(line int) {
	if len(p.loops) == 0 {
		return
	}
	l := p.loops[len(p.loops)-1]
	p.loops = p.loops[:len(p.loops)-1]
	for i := len(p.open) - 1; i >= 0 && l.governed > 0; i-- {
		if p.open[i].state == inLoop {
			for j := i + 1; j < len(p.open) && p.open[j].state != mayEnd; j++ {
				p.drop(j)
			}
			p.open[i].state = mayEnd
			p.open[i].End = line
			l.governed--
		}
	}
}
