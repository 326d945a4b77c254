package user

import (
	"sync"

	"ompp-attach/bpf"
	"ompp-attach/probes"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Regions are the regions that the user asked for, and the places where they were found. mu guards
// the fields below it. It may be taken while any lock of a measurement is held.
type Regions struct {
	// Notice tells the user at once about a mistake for which he may want to stop the measurement.
	Notice func(sentence string)
	logf   func(format string, args ...any)

	mu       sync.Mutex
	patterns []*pattern
	lines    []*lineRegion
	found    int // number of functions that were selected
	most     int // limit of found
	refusal  error
	unseen   []profile.Unseen
	places   map[*symbols.Object]map[uint64]Place // by identity

	levels     []*level
	functions  []LevelFunction                // of levels, by the Fn of their events
	importers  []*symbols.Object              // files of a process; nil: they are not known
	levelPlans map[*symbols.Object]*levelPlan // of libraries that were seen
	kinds      levelKinds
}

// New takes functions, as plain names or regular expressions, and regions given by
// lines. The error is a sentence that names what cannot be understood. logf receives the messages
// of --verbose.
func New(functions, lines []string, logf func(string, ...any)) (*Regions, error) {
	u := &Regions{Notice: func(string) {}, logf: logf, places: map[*symbols.Object]map[uint64]Place{}, levelPlans: map[*symbols.Object]*levelPlan{}}
	for _, text := range functions {
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		u.patterns = append(u.patterns, p)
	}
	for _, text := range lines {
		r, err := parseLines(text)
		if err != nil {
			return nil, err
		}
		u.lines = append(u.lines, r)
	}
	return u, nil
}

// Limit sets how many functions can be probed at once, which depends on how probes are attached.
func (u *Regions) Limit(mode bpf.Mode) {
	if u.most = maxFunctions; mode == bpf.Perf {
		u.most = maxFunctionsPerf
	}
}

// Finders returns the functions that find the probes of user regions in a file. Each is called once
// per file.
func (u *Regions) Finders() (all []func(*symbols.Module) []probes.CodePoint) {
	if len(u.patterns) > 0 {
		all = append(all, u.findFunctions)
	}
	if len(u.lines) > 0 {
		all = append(all, u.findLines)
	}
	if len(u.levels) > 0 {
		all = append(all, u.findLevels)
	}
	return append(all, u.findMarkers)
}

// place stores what reports show of a region of the file o.
func (u *Regions) place(o *symbols.Object, identity uint64, p Place) {
	if u.places[o] == nil {
		u.places[o] = map[uint64]Place{}
	}
	u.places[o][identity] = p
}

// Unmatched returns a sentence for each pattern or region that was not found so far, with the
// reason.
func (u *Regions) Unmatched() (sentences []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range u.patterns {
		if !p.matched {
			sentences = append(sentences, p.unmatched())
		}
	}
	for _, r := range u.lines {
		if !r.matched {
			sentences = append(sentences, r.unmatched())
		}
	}
	for _, l := range u.levels {
		if !l.matched {
			sentences = append(sentences, l.unmatchedLevel())
		}
	}
	return sentences
}
