package selection

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/profile"
)

// selector is a set of constructs that the user can leave out together, as in POMP.
type selector struct {
	name       string
	constructs []event.Construct
}

// selectors are the selectors in the table of constructs, by name, and sync: all constructs that
// synchronise.
var selectors = func() (all []selector) {
	by := map[string][]event.Construct{}
	for _, c := range event.AllConstructs() {
		t := c.Traits()
		if t.Selector != "" {
			by[t.Selector] = append(by[t.Selector], c)
		}
		if t.Sync {
			by["sync"] = append(by["sync"], c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		all = append(all, selector{name, by[name]})
	}
	return all
}()

// Selection says which constructs, MPI operations, files and functions the user does not want to
// see.
type Selection struct {
	hidden    map[event.Construct]bool
	files     []string
	functions []string
	mpi       mpiChoice
	text      []string // for the report
}

// New makes a selection from the words of --disable and --only. A word is a selector or an
// MPI operation. With --disable it may also be file:NAME or function:NAME, to leave out all regions
// there. The error names the word that is wrong.
func New(disable, only []string) (*Selection, error) {
	s := &Selection{hidden: map[event.Construct]bool{}}
	for _, word := range disable {
		if name, ok := strings.CutPrefix(word, "file:"); ok && name != "" {
			s.files = append(s.files, name)
			s.text = append(s.text, word+" (probed, not shown)")
			continue
		}
		if name, ok := strings.CutPrefix(word, "function:"); ok && name != "" {
			s.functions = append(s.functions, name)
			s.text = append(s.text, word+" (probed, not shown)")
			continue
		}
		switch named, err := nameOp("--disable", word, &s.mpi.off); {
		case err != nil:
			return nil, err
		case named:
			s.text = append(s.text, word)
			continue
		}
		c, err := parseSelector("--disable", word, "operations of MPI like MPI_Barrier, file:NAME, function:NAME")
		if err != nil {
			return nil, err
		}
		for _, c := range c.constructs {
			s.hidden[c] = true
		}
		s.text = append(s.text, word)
	}
	if len(only) == 0 {
		return s, nil
	}
	shown := map[event.Construct]bool{}
	for _, word := range only {
		if word == "parallel" { // parallel regions are always shown
			continue
		}
		if named, err := nameOp("--only", word, &s.mpi.on); err != nil {
			return nil, err
		} else if named {
			continue
		}
		c, err := parseSelector("--only", word, "parallel, operations of MPI like MPI_Barrier")
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(c.constructs, func(k event.Construct) bool { return !s.hidden[k] }) {
			return nil, fmt.Errorf("--only %s: --disable leaves it out; take it from one of the two", word)
		}
		for _, c := range c.constructs {
			shown[c] = true
		}
	}
	for _, c := range selectors {
		for _, k := range c.constructs {
			if !shown[k] {
				s.hidden[k] = true
			}
		}
	}
	s.text = append(s.text, "all but parallel, "+strings.Join(only, ", "))
	return s, nil
}

func parseSelector(flag, word, more string) (selector, error) {
	i := slices.IndexFunc(selectors, func(c selector) bool { return c.name == word })
	if i >= 0 {
		return selectors[i], nil
	}
	return selector{}, fmt.Errorf("%s %s: there are no such constructs: there are %s, %s", flag, word, strings.Join(Selectors(), ", "), more)
}

// Selectors returns the selectors, for the help.
func Selectors() (names []string) {
	for _, c := range selectors {
		names = append(names, c.name)
	}
	return names
}

// UserRegions tells whether user regions are wanted.
func (s *Selection) UserRegions() bool { return !s.hidden[event.UserRegion] }

// Leaves tells whether a construct is left out, and its probes with it.
func (s *Selection) Leaves(c event.Construct) bool { return s != nil && s.hidden[c] }

// LeavesWorksharing tells whether constructs that end in a barrier are left out: loops, sections,
// single or scope. Their barriers may be seen all the same.
func (s *Selection) LeavesWorksharing() bool {
	return s.Leaves(event.Loop) || s.Leaves(event.Sections) || s.Leaves(event.Single) || s.Leaves(event.Scope)
}

// Prune removes the placements that only unwanted constructs need from a plan.
func (s *Selection) Prune(p *probes.Plan) {
	if s == nil || len(s.hidden) == 0 {
		return
	}
	needed := func(cs ...event.Construct) bool {
		return slices.ContainsFunc(cs, func(c event.Construct) bool { return !s.hidden[c] })
	}
	p.Keep(func(c event.Construct) bool {
		switch {
		case c == event.Loop && p.Runtime == event.Kmpc: // sections are loops, too
			return needed(event.Loop, event.Sections)
		case (c == event.Barrier || c == event.ReductionBarrier) && p.Runtime == event.Kmpc:
			// libomp's implicit barriers and reductions.
			return needed(event.Barrier, event.Loop, event.Sections, event.Single, event.Scope, event.Reduction)
		case c == event.Barrier: // ends the body of a single, or a static loop
			return needed(event.Barrier, event.Single, event.Loop, event.Scope)
		}
		return !s.hidden[c]
	})
}

// Hide removes unwanted regions from a profile. Unwanted MPI calls were not fed in the first place.
func (s *Selection) Hide(p *profile.Profile) {
	if s == nil {
		return
	}
	p.Meta.LeftOut = s.leftOut(p)
	if len(s.text) == 0 {
		return
	}
	profile.Hide(p, func(r *profile.Region) bool {
		return s.hidden[r.Construct] && r.Construct != event.MPI ||
			slices.ContainsFunc(s.files, func(f string) bool { return inFile(r.Location.File, f) }) ||
			slices.ContainsFunc(s.functions, func(f string) bool {
				return r.Location.Function == f || strings.HasSuffix(r.Location.Function, "::"+f)
			})
	})
}

// inFile tells whether name means a path: name is the base name, or any longer end of the path.
func inFile(path, name string) bool {
	return path != "" && (path == name || strings.HasSuffix(path, "/"+filepath.Clean(name)))
}
