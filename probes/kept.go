package probes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/cache"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// Plans are kept between runs: to find the places of a runtime takes 50 to 150 ms of a processor,
// while the program waits. A wrong place would crash the program. So a plan is believed only if
// root alone could have written it, and only for a file with the very contents.
const (
	mostKept    = 8 << 20  // bytes of a plan; libomp's has some 200,000
	mostDigest  = 64 << 20 // bytes of a library
	keptVersion = 2        // of keptPlan
)

// keptPlan is a plan as it stands in the cache.
type keptPlan struct {
	// Asked has the plan's questions, whether the program imports a symbol, with the answers.
	Asked      map[string]bool
	Rows       []Row
	Placements []keptPlacement
	Derived    []keptPlacement `json:",omitempty"`
	Missing    []string
	NoTasks    string
}

type keptPlacement struct {
	Symbol string
	VAddr  uint64
	Cost   points.Cost
	Row    int // in Rows
	Kernel bpf.Row
	// Replaced: Derived has others for it.
	Replaced bool `json:",omitempty"`
}

// keep makes a keptPlan of a plan.
func keep(p *Plan, asked map[string]bool) *keptPlan {
	k := &keptPlan{Asked: asked, Missing: p.Missing}
	if p.NoTasks != nil {
		k.NoTasks = p.NoTasks.Error()
	}
	numbers := map[*Row]int{}
	keepAll := func(all []Placement) (kept []keptPlacement) {
		for i := range all {
			pl := &all[i]
			n, known := numbers[pl.Row]
			if !known {
				n = len(k.Rows)
				numbers[pl.Row] = n
				k.Rows = append(k.Rows, *pl.Row)
			}
			kept = append(kept, keptPlacement{pl.Symbol, pl.VAddr, pl.Cost, n, pl.Kernel, pl.replaced})
		}
		return kept
	}
	k.Placements, k.Derived = keepAll(p.Placements), keepAll(p.derived)
	return k
}

// plan is the inverse of keep, for the same runtime and file. ok is false if the program imports
// other symbols than the program for which the plan was made. It is also false if the plan cannot
// be the file's.
func (k *keptPlan) plan(r *Runtime, o *symbols.Object, imported func(string) bool) (p *Plan, ok bool) {
	for name, answer := range k.Asked {
		if imported(name) != answer {
			return nil, false
		}
	}
	p = &Plan{Runtime: r.Name, Object: o, runtime: r, Missing: slices.Clone(k.Missing)}
	if k.NoTasks != "" {
		p.NoTasks = errors.New(k.NoTasks)
	}
	if !k.place(p, k.Placements) {
		return nil, false
	}
	n := len(p.Placements)
	if !k.place(p, k.Derived) {
		return nil, false
	}
	p.Placements, p.derived = p.Placements[:n:n], slices.Clone(p.Placements[n:])
	return p, len(p.Placements) > 0
}

// place adds probes as they stand in the cache to a plan. It answers false if they cannot be the
// file's.
func (k *keptPlan) place(p *Plan, all []keptPlacement) bool {
	for i := range all {
		at := &all[i]
		if at.Row < 0 || at.Row >= len(k.Rows) || at.Cost > points.SingleStep {
			return false
		}
		before := len(p.Placements)
		if p.add(at.Symbol, &k.Rows[at.Row], at.VAddr, at.Cost, at.Kernel); len(p.Placements) == before {
			return false
		}
		p.Placements[before].replaced = at.Replaced
	}
	return true
}

// planFile is a plan's place in the cache.
type planFile struct {
	*cache.Cache
	name string
}

// openPlan finds the place of a file's plan in the cache. ok is false if there is none.
func openPlan(r *Runtime, o *symbols.Object) (f planFile, ok bool) {
	// With file capabilities the tool may do more than whoever wrote the plan.
	if os.Geteuid() != 0 {
		return f, false
	}
	sum, ok := o.Digest(mostDigest)
	if !ok {
		return f, false
	}
	var err error
	// The separate debug file may come or go.
	if f.name, err = cache.Key(keptVersion, r.Name, sum, o.HasDWARF(), o.Stripped()); err != nil {
		return f, false
	}
	if f.Cache, err = cache.Open("plans"); err != nil {
		return f, false
	}
	if !f.Ours() {
		f.Close()
		return f, false
	}
	return f, true
}

// read returns the plan in the cache; nil if there is none.
func (f planFile) read() *keptPlan {
	b, err := f.Read(f.name, mostKept)
	if err != nil {
		return nil
	}
	return decodePlan(b)
}

// decodePlan decodes what write wrote; nil if it is no plan.
func decodePlan(b []byte) *keptPlan {
	k := &keptPlan{}
	if json.Unmarshal(b, k) != nil {
		return nil
	}
	return k
}

func (f planFile) write(k *keptPlan) error {
	b, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("keep a plan: %w", err)
	}
	return f.Write(f.name, b)
}

// keptPlans are the plans that were read from the cache; nil: there is none for the file.
var keptPlans symbols.Memo[*keptPlan]

// kept returns the plan of a file in the cache, or nil.
func (r *Runtime) kept(o *symbols.Object) *keptPlan {
	return keptPlans.Of(o, func(o *symbols.Object) *keptPlan {
		f, ok := openPlan(r, o)
		if !ok {
			return nil
		}
		defer f.Close()
		return f.read()
	})
}

// ReadAhead finds in advance what a plan of the file will need.
func (r *Runtime) ReadAhead(o *symbols.Object) {
	if r.kept(o) == nil && r.Tasks != nil {
		_, _ = r.Locate(o) // the plan will report the error
	}
}

// KeptPlan is Plan, but uses the plan that an earlier run has made, and keeps a new one for later
// runs.
func (r *Runtime) KeptPlan(o *symbols.Object, imported func(string) bool) (*Plan, error) {
	if k := r.kept(o); k != nil {
		if p, ok := k.plan(r, o, imported); ok {
			return p, nil
		}
	}
	asked := map[string]bool{}
	p, err := r.Plan(o, func(name string) bool {
		asked[name] = imported(name)
		return asked[name]
	})
	if err != nil {
		return nil, err
	}
	if f, ok := openPlan(r, o); ok {
		defer f.Close()
		_ = f.write(keep(p, asked)) // the next plan takes as long as this one
	}
	return p, nil
}
