package user

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// level is a library, or a part of its functions. Calls of these functions from outside are
// measured.
type level struct {
	text    string
	name    string
	library string         // how the base name of its file begins, or a pattern for it
	regex   *regexp.Regexp // nil: all functions that other files import
	but     *regexp.Regexp // functions that are left out of these; nil: none
	loaded  bool           // the library was seen
	matched bool
}

// LevelFunction is a function of a level.
type LevelFunction struct {
	Name, Level string
	Notes       []string
	Without     string // how the user leaves the function out of the level
}

// maxLevels is the number of levels that the events' Value can tell apart.
const maxLevels = event.MaxLevels

var levelSyntax = regexp.MustCompile(`^([A-Za-z][\w.+-]*)=([^:]+)(?::(.+))?$`)

// taken are names of categories that every report has.
var taken = []string{"mpi", "omp", "openmp", "oops", "user", "program"}

func parseLevel(text string) (*level, error) {
	m := levelSyntax.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("--level %s: write NAME=LIBRARY, NAME=LIBRARY:REGEX or NAME=LIBRARY:!REGEX, as in blas=libopenblas", text)
	}
	l := &level{text: text, name: m[1], library: filepath.Base(m[2])}
	if slices.Contains(taken, strings.ToLower(l.name)) {
		return nil, fmt.Errorf("--level %s: %s has this name in the reports already: give another", text, l.name)
	}
	if m[3] == "" {
		return l, nil
	}
	expr, but := strings.CutPrefix(m[3], "!")
	regex, err := regexp.Compile(expr)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--level %s: %s is no regular expression that Go knows (%w)", text, expr, err)
	case but && expr == "":
		return nil, fmt.Errorf("--level %s: write behind the ! which functions are left out, as in blas=libopenblas:!^ddot_$", text)
	case but:
		l.but = regex
	default:
		l.regex = regex
	}
	return l, nil
}

// takes tells whether a function with these names is of the level, if it is in its library.
func (l *level) takes(names []string) bool {
	if l.but != nil {
		return !slices.ContainsFunc(names, l.but.MatchString)
	}
	return l.regex == nil || slices.ContainsFunc(names, l.regex.MatchString)
}

// without says how the user leaves a function out of the level.
func (l *level) without(function string) string {
	if l.regex != nil || l.but != nil {
		return fmt.Sprintf("change the expression of --level %s to leave it out", l.name)
	}
	return fmt.Sprintf("--level '%s=%s:!^%s$' leaves it out", l.name, l.library, regexp.QuoteMeta(function))
}

// SetLevels adds levels, as --level gives them, the innermost library last or first.
func (u *Regions) SetLevels(texts []string) error {
	if len(texts) > maxLevels {
		return fmt.Errorf("--level: at most %d levels can be told apart", maxLevels)
	}
	for _, text := range texts {
		l, err := parseLevel(text)
		if err != nil {
			return err
		}
		u.levels = append(u.levels, l)
	}
	return nil
}

// HasLevels tells whether levels were asked for.
func (u *Regions) HasLevels() bool { return u != nil && len(u.levels) > 0 }

// HasLines tells whether regions by lines were asked for.
func (u *Regions) HasLines() bool { return u != nil && len(u.lines) > 0 }

// SetImporters tells which files a process maps: their imports say which functions of a library
// are called from outside.
func (u *Regions) SetImporters(mods []symbols.Module) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.importers = make([]*symbols.Object, len(mods))
	for i := range mods {
		u.importers[i] = mods[i].Object()
	}
}

// LevelFunction returns the function of a level that an event's Fn names; ok is false if the event
// is of no level.
func (u *Regions) LevelFunction(fn uint64) (f LevelFunction, ok bool) {
	i, ok := event.LevelFunction(fn) // an index in functions
	if u == nil || !ok {
		return f, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if i >= len(u.functions) {
		return f, false
	}
	return u.functions[i], true
}

// IsLevel tells whether the Fn of a user region's event names a function of a level.
func IsLevel(fn uint64) bool {
	_, ok := event.LevelFunction(fn)
	return ok
}

func (l *level) covers(mod *symbols.Module) bool {
	base := filepath.Base(mod.Path)
	if strings.HasPrefix(base, l.library) {
		return true
	}
	ok, err := filepath.Match(l.library, base)
	if err == nil && !ok && strings.ContainsAny(l.library, "*?[") {
		ok, err = filepath.Match(l.library+"*", base)
	}
	return err == nil && ok
}

// findLevels is the plans.Finder for the functions of levels.
func (u *Regions) findLevels(mod *symbols.Module) []probes.CodePoint {
	u.mu.Lock()
	defer u.mu.Unlock()
	var wanted []int
	var names []string
	for n, l := range u.levels {
		if l.covers(mod) {
			l.loaded = true
			wanted, names = append(wanted, n), append(names, l.name)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	o := mod.Object()
	if o.Exports("MPI_Init") || o.Exports("GOMP_parallel") || o.Exports("__kmpc_fork_call") {
		u.unseen = append(u.unseen, profile.Unseen{What: "level " + u.levels[wanted[0]].name, Reason: mod.Path + " is measured anyway: MPI and OpenMP are levels by themselves"})
		u.levels[wanted[0]].matched = true
		return nil
	}
	b := newLevelPlan(u, o, mod.Path, u.kinds.of(names), len(wanted) == 1)
	u.levelPlans[o] = b
	points, _ := b.probes(b.choose(wanted))
	u.logf("%s: %d functions are of levels, by %d probes", mod.Path, len(b.chosen), len(points))
	return points
}

// Later finds probes of a library's levels that are wanted late. Only files that were loaded after
// the library was first seen import the functions of these probes. continued are functions, named
// by the Fn of their events. From now on event.UserContinues marks their entries. The library's
// file was given to a finder before.
func (u *Regions) Later(mod *symbols.Module) (points []probes.CodePoint, continued []uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	b := u.levelPlans[mod.Object()]
	if b == nil {
		return nil, nil
	}
	fresh := b.chooseLater()
	if len(fresh) == 0 {
		return nil, nil
	}
	points, continued = b.probes(fresh)
	u.logf("%s: %d more functions are of levels, by %d probes", mod.Path, len(fresh), len(points))
	return points, continued
}

// unmatchedLevel says why a level has no function.
func (l *level) unmatchedLevel() string {
	if !l.loaded {
		return fmt.Sprintf("--level %s: no file was loaded whose name begins with %s", l.text, l.library)
	}
	return fmt.Sprintf("--level %s matches no function that the library exports; `nm -DC FILE` lists them", l.text)
}
