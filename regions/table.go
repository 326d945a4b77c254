package regions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// The reasons why a file has no table.
var (
	ErrNoOpenMP = errors.New("calls no OpenMP runtime")
	ErrRuntime  = errors.New("is an OpenMP runtime itself")
)

// Evidence is a set of the sources by which a region was found.
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

// Measure says how a measurement gets a region's figures.
type Measure uint8

// The ways of measuring.
const (
	Exact     Measure = iota // every begin and end is seen
	Derived                  // from other events, by a stated rule
	Sampled                  // estimated from samples
	Invisible                // not measured
)

var measureNames = [...]string{"exact", "derived", "sampled", "invisible"}

// String returns the word that users see.
func (m Measure) String() string { return measureNames[m&3] }

// MarshalText writes the word.
func (m Measure) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Measure) UnmarshalText(b []byte) error {
	n := slices.Index(measureNames[:], string(b))
	if n < 0 {
		return fmt.Errorf("no way of measuring is called %q", b)
	}
	*m = Measure(n)
	return nil
}

// MarshalJSON writes the names.
func (e Evidence) MarshalJSON() ([]byte, error) { return json.Marshal(e.Names()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Evidence) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	*e = 0
	for _, name := range names {
		n := slices.Index(evidenceNames, name)
		if n < 0 {
			return fmt.Errorf("no evidence is called %q", name)
		}
		*e |= 1 << n
	}
	return nil
}

// Site is a call of the runtime.
type Site struct {
	Call string `json:"call"` // the runtime's function
	Addr uint64 `json:"addr"` // vaddr of the call or jump
	// Return is the vaddr of the instruction after the call. A probe sees it as the address of its
	// caller, unless Tail is set.
	Return uint64 `json:"return"`
	Tail   bool   `json:"tail,omitempty"`  // a jump: the function ends with it
	Start  bool   `json:"start,omitempty"` // it starts the construct, or is a barrier
}

// Point is an instruction at which an inline construct is entered or left.
type Point struct {
	Addr uint64 `json:"addr"` // vaddr
}

// Region is a construct of one function. A construct in a template, or in a function that is
// inlined elsewhere, is a region of each function that has it.
type Region struct {
	Construct event.Construct `json:"construct"`         // NoConstruct: Words names it
	Runtime   event.Runtime   `json:"runtime,omitempty"` // NoRuntime: it makes no call
	// Words are the directive's words as the source spells them. Without the source they are C's
	// words, if Construct does not name them.
	Words  string `json:"words,omitempty"`
	Name   string `json:"name,omitempty"`   // of a named critical
	Nowait bool   `json:"nowait,omitempty"` // the source says so
	Untied bool   `json:"untied,omitempty"` // the source says so
	// Number of sections; 0 if there are none or it is not known.
	Sections int    `json:"sections,omitempty"`
	Function string `json:"function,omitempty"` // the source function in which it stands, demangled
	File     string `json:"file,omitempty"`

	// The lines of the directive, and of the end of the construct (closing brace, end directive,
	// last line of the statement). 0: not known.
	Begin     int  `json:"begin,omitempty"`
	BeginLast int  `json:"begin_last,omitempty"`
	EndFirst  int  `json:"end_first,omitempty"`
	End       int  `json:"end,omitempty"`
	BeginNear bool `json:"begin_near,omitempty"` // Begin is near, not exact
	// End is the last line with code, not the closing line.
	EndNear bool `json:"end_near,omitempty"`

	Code uint64 `json:"code,omitempty"` // vaddr of the function around it
	// At is the vaddr of the instruction that is the whole construct; 0: the construct is more than
	// one instruction.
	At uint64 `json:"at,omitempty"`
	// Outlined is the vaddr of the outlined function that is the construct's body; 0: there is
	// none.
	Outlined uint64  `json:"outlined,omitempty"`
	Sites    []Site  `json:"sites,omitempty"`
	Parent   int     `json:"parent"` // index of the region around it, -1 for none
	Depth    int     `json:"depth"`  // number of regions around it
	Enter    []Point `json:"enter,omitempty"`
	Leave    []Point `json:"leave,omitempty"`

	Found   Evidence `json:"found_by"`
	Measure Measure  `json:"measured"`
	Why     string   `json:"why,omitempty"` // reason for a Measure other than Exact
	// Implicit: only the barrier that ends a worksharing construct was found. The construct itself
	// is not known.
	Implicit bool `json:"implicit,omitempty"`
}

// Type returns the region's type in the spelling of reports and POMP.
func (r *Region) Type() string {
	if r.Construct != event.NoConstruct {
		return r.Construct.String()
	}
	return strings.ToUpper(r.Words)
}

// Table holds the regions of one file, in the order of source files and lines.
type Table struct {
	Regions []Region         `json:"regions"`
	Notes   []string         `json:"notes,omitempty"` // whole sentences for the user
	Sources []symbols.Source `json:"sources,omitempty"`

	bySite map[uint64]int // by return address
	byCode map[uint64]int // by outlined function
}

// index prepares the table for At and Function.
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

// At returns the region of the runtime call whose return address is vaddr.
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
