// Package regions is a binary Opari: it builds, for a program or library that
// calls an OpenMP runtime, the table of its OpenMP regions without running it,
// from the calls of the runtime, outlined functions, libomp's ident_t, line
// tables and the pragmas of the source, as far as each is there.
package regions

import (
	"errors"
	"strings"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// Reasons why a file has no table.
var (
	ErrNoOpenMP = errors.New("calls no OpenMP runtime")
	ErrRuntime  = errors.New("is an OpenMP runtime itself")
)

// Evidence is a set of what a region was found by.
type Evidence uint8

// The kinds of evidence.
const (
	ByCall   Evidence = 1 << iota // a call of the runtime
	ByIdent                       // clang's description of the place (ident_t)
	ByLine                        // the line table
	BySource                      // the directive in the source
	BySymbol                      // the name of an outlined function
	ByCode                        // instructions: the argument of a call, a locked instruction
)

var evidenceNames = []string{"call", "ident_t", "line table", "source pragma", "symbol", "disassembly"}

// Names returns the names of the evidence, in a fixed order.
func (e Evidence) Names() (names []string) {
	for i, n := range evidenceNames {
		if e&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Measure says how a region's figures come about.
type Measure uint8

// The ways of measuring.
const (
	Exact     Measure = iota // every begin and end is seen
	Derived                  // from other events, by a stated rule
	Sampled                  // estimated from samples
	Invisible                // not measured
)

// String returns the word for users.
func (m Measure) String() string {
	return []string{"exact", "derived", "sampled", "invisible"}[m&3]
}

// Site is a call of the runtime.
type Site struct {
	Call   string // the runtime's function
	Addr   uint64 // vaddr of the call or jump
	Return uint64 // vaddr of the instruction behind it; what a probe sees as its caller, unless Tail
	Tail   bool   // a jump: the function ends with it
	Start  bool   // it starts the construct, or is the barrier that it is
}

// Point is an instruction at which an inline construct is entered or left.
type Point struct {
	Addr uint64 // vaddr
}

// Region is a construct of one function; a construct in a template or a
// function that is inlined elsewhere is a region of each function it is in.
type Region struct {
	Kind     event.Construct // NoConstruct: Words tells
	Runtime  event.Runtime   // NoRuntime: it makes no call
	Words    string          // the directive as the source spells it, else C's words for the construct; "" for a lock
	Name     string          // of a named critical
	Sections int             // number of sections; 0 if there are none or it is not known
	Function string          // the source function in which it stands, demangled
	File     string          // "" if not known

	// Lines, 0 if not known: of the directive and of what ends the construct
	// (closing brace, end directive, last line of the statement).
	Begin, BeginLast, EndFirst, End int
	BeginNear                       bool // Begin is near, not exact
	EndNear                         bool // End is the last line with code, not the closing line

	Code     uint64 // vaddr of the function that holds its calls
	Outlined uint64 // vaddr of the outlined function that is its body; 0 for none
	Sites    []Site
	Parent   int // index of the region around it, -1 for none
	Depth    int // number of regions around it
	Enter    []Point
	Leave    []Point

	Found   Evidence
	Measure Measure
	Why     string // of a Measure other than Exact
	// Implicit: only the barrier at the end of a worksharing construct was
	// found, not which construct it is.
	Implicit bool
}

// Type returns the region's type as reports and POMP spell it.
func (r *Region) Type() string {
	if r.Kind != event.NoConstruct {
		return r.Kind.String()
	}
	return strings.ToUpper(r.Words)
}

// Table is what was found in one file, in order of source files and lines.
type Table struct {
	Regions []Region
	Notes   []string // whole sentences for the user
	Sources []symbols.Source

	bySite map[uint64]int // by return address
	byCode map[uint64]int // by outlined function
}

// index makes the table ready for questions.
func (t *Table) index() {
	t.bySite, t.byCode = map[uint64]int{}, map[uint64]int{}
	for i := range t.Regions {
		r := &t.Regions[i]
		for _, s := range r.Sites {
			if !s.Tail {
				t.bySite[s.Return] = i
			}
		}
		if r.Outlined != 0 {
			t.byCode[r.Outlined] = i
		}
	}
}

// At returns the region of the runtime call that returns to vaddr.
func (t *Table) At(vaddr uint64) (Region, bool) { return t.pick(t.bySite, vaddr) }

// Function returns the region whose body is the outlined function at vaddr.
func (t *Table) Function(vaddr uint64) (Region, bool) { return t.pick(t.byCode, vaddr) }

func (t *Table) pick(index map[uint64]int, vaddr uint64) (Region, bool) {
	i, ok := index[vaddr]
	if !ok {
		return Region{}, false
	}
	return t.Regions[i], true
}

// Tail returns the region of a kind that the outlined function at fn ends with:
// whose call is a jump. ok is false if several may be meant.
func (t *Table) Tail(fn uint64, kind event.Construct) (found Region, ok bool) {
	for _, r := range t.Regions {
		if r.Code != fn {
			continue
		}
		for _, s := range r.Sites {
			c, _ := callOf(s.Call)
			if !s.Tail || c.kind != kind {
				continue
			}
			if ok && (found.Begin != r.Begin || found.File != r.File) {
				return Region{}, false
			}
			found, ok = r, true
		}
	}
	return found, ok
}
