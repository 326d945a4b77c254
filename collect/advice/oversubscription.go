package advice

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ompp-attach/event"
)

// Oversubscription that lasts no more than moments is not reported.
const (
	leastShare  = 0.01
	leastExcess = 1.1 // threads per core: stretches have no sharp ends
)

// label is a runtime's name. If there are two of one kind, it says which of them it is.
func (u *Usage) label(l *library) string {
	name := l.kind.String()
	var others []*library
	for _, o := range u.libraries {
		if o != l && o.kind == l.kind && o.path != l.path {
			others = append(others, o)
		}
	}
	if len(others) == 0 {
		return name
	}
	base := filepath.Base(l.path)
	for _, o := range others {
		if filepath.Base(o.path) == base {
			return name + " " + l.path
		}
	}
	return name + " " + base
}

// RuntimeAt looks for the first of some addresses at which a runtime of a kind was called, and
// returns that runtime's label. ok is false if no address is such a call.
func (u *Usage) RuntimeAt(kind event.Runtime, addrs ...uint64) (label string, ok bool) {
	for _, addr := range addrs {
		if i, ok := u.callers[addr]; ok && u.libraries[i].kind == kind {
			return u.label(u.libraries[i]), true
		}
	}
	return "", false
}

// Oversubscribed warns if more threads were at work than cores can be used, or if several runtimes
// took turns on the same cores. The warnings are whole sentences. The threads that are too many may
// be of one runtime, or of several at a time.
func (u *Usage) Oversubscribed(c *Cores) (warnings []string) {
	n := c.number()
	if n == 0 || len(u.libraries) == 0 {
		return nil
	}
	libs := slices.SortedFunc(maps.Values(u.libraries), func(a, b *library) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.path, b.path))
	})
	tooLarge := false
	for _, l := range libs {
		if l.maxTeam <= n {
			continue
		}
		tooLarge = true
		warnings = append(warnings, fmt.Sprintf("%s starts teams of up to %d threads, but the process may use only %s, so threads wait for a core. Set %s, or give the process more cores.",
			u.label(l), l.maxTeam, c, threadsAdvice(n)))
	}
	ov := u.overlap(libs, n)
	outer, inner := u.nesting(ov.excess)
	switch {
	case outer != nil:
		warnings = append(warnings, fmt.Sprintf("regions of %s call regions of %s: each thread of an outer team starts a team of up to %d. During %s of %s, on average %.1f threads were inside parallel regions, on %s. Give the inner library one thread there (omp_set_num_threads(1), or its own function for it), or %s.",
			u.label(outer), u.label(inner), inner.maxTeam, seconds(ov.excess), seconds(ov.measured), ov.threads, c, u.replacement([]*library{outer, inner})))
	case len(ov.together) > 1:
		warnings = append(warnings, fmt.Sprintf("%d OpenMP runtimes oversubscribe the cores: during %s of %s, on average %s were inside parallel regions at once, %.1f threads on %s. To mend it, %s.",
			len(ov.together), seconds(ov.excess), seconds(ov.measured), u.shares(ov.together), ov.threads, c, u.remedy(libs, n)))
	case len(ov.together) == 1 && !tooLarge:
		warnings = append(warnings, fmt.Sprintf("%s runs several teams at once: during %s of %s, on average %.1f of its threads were inside parallel regions, on %s. Where regions are nested, set OMP_MAX_ACTIVE_LEVELS=1. Where several threads start teams, let the teams' sizes add up to %d.",
			u.label(ov.together[0].lib), seconds(ov.excess), seconds(ov.measured), ov.threads, c, n))
	}
	if outer == nil && ov.turns > ov.excess {
		warnings = append(warnings, fmt.Sprintf("%d OpenMP runtimes take turns on the same cores: during %s of %s, %s ran regions within %s. The threads of each spin for a while after a region (libomp's for 200 ms), and take the %s from the others. Set OMP_WAIT_POLICY=passive (and KMP_BLOCKTIME=0), or %s.",
			len(ov.taking), seconds(ov.turns), seconds(ov.measured), u.names(ov.taking), time.Duration(u.width), c, u.remedy(ov.taking, n)))
	}
	return warnings
}

// share is a library's part in the threads that were too many.
type share struct {
	lib     *library
	threads float64 // on average
}

type overlap struct {
	measured, excess, turns time.Duration
	together                []share    // libraries whose threads were part of the excess
	threads                 float64    // of all of them, on average in the excess
	taking                  []*library // libraries that took turns
}

// overlap sums up two kinds of stretches of time. In excess, more threads than cores were at work.
// In turns, several libraries were at work with fewer threads.
func (u *Usage) overlap(libs []*library, cores int) (ov overlap) {
	stretches, teams := 0, 0
	for _, l := range libs {
		stretches = max(stretches, len(l.busy))
		teams += l.maxTeam
	}
	sums := make([]uint64, len(libs))
	turned := make([]bool, len(libs))
	excess, turns := 0, 0
	for i := range stretches {
		var sum uint64
		active := 0
		for _, l := range libs {
			if i < len(l.busy) && l.busy[i] > 0 {
				sum += l.busy[i]
				active++
			}
		}
		switch {
		case float64(sum) > leastExcess*float64(cores)*float64(u.width):
			excess++
			for k, l := range libs {
				if i < len(l.busy) {
					sums[k] += l.busy[i]
				}
			}
		case active > 1 && teams > cores:
			turns++
			for k, l := range libs {
				turned[k] = turned[k] || i < len(l.busy) && l.busy[i] > 0 && l.maxTeam > 1
			}
		}
	}
	ov.measured = time.Duration(uint64(stretches) * u.width)
	if float64(excess) > leastShare*float64(stretches) {
		ov.excess = time.Duration(uint64(excess) * u.width)
		for k, l := range libs {
			threads := float64(sums[k]) / float64(uint64(excess)*u.width)
			ov.threads += threads
			if threads >= 0.1 {
				ov.together = append(ov.together, share{l, threads})
			}
		}
	}
	for k, l := range libs {
		if turned[k] {
			ov.taking = append(ov.taking, l)
		}
	}
	if len(ov.taking) > 1 && float64(turns) > leastShare*float64(stretches) {
		ov.turns = time.Duration(uint64(turns) * u.width)
	}
	return ov
}

// shares says how many threads of each library there were:
// "2.0 threads of libgomp and 1.9 of libomp".
func (u *Usage) shares(s []share) string {
	var parts []string
	for i, x := range s {
		of := " of "
		if i == 0 {
			of = " threads of "
		}
		parts = append(parts, fmt.Sprintf("%.1f%s%s (teams of up to %d)", x.threads, of, u.label(x.lib), x.lib.maxTeam))
	}
	return strings.Join(parts, " and ")
}

func (u *Usage) names(libs []*library) string {
	var parts []string
	for _, l := range libs {
		parts = append(parts, u.label(l))
	}
	return strings.Join(parts, " and ")
}

// nesting finds a pair of runtimes: inner ran most inside regions of outer. It returns nil if that
// makes up less than a quarter of the excess.
func (u *Usage) nesting(excess time.Duration) (outer, inner *library) {
	const leastPart = 0.25
	most := uint64(leastPart * float64(excess))
	if most == 0 {
		return nil, nil
	}
	for pair, ns := range u.nested {
		if o, i := u.libraries[pair[0]], u.libraries[pair[1]]; ns > most && o != nil && i != nil {
			most, outer, inner = ns, o, i
		}
	}
	return outer, inner
}

// remedy says which variables to set, and which libraries to replace.
func (u *Usage) remedy(libs []*library, cores int) string {
	return fmt.Sprintf("set %s, so that they fit together, or %s", threadsAdvice(max(1, cores/max(1, len(libs)))), u.replacement(libs))
}

// replacement says how one runtime can serve all callers.
func (u *Usage) replacement(libs []*library) string {
	kinds := map[event.Runtime]bool{}
	var paths []string
	for _, l := range libs {
		kinds[l.kind] = true
		paths = append(paths, l.path)
	}
	how := "let one copy serve both (LD_PRELOAD one of them, or a symbolic link in place of the other)"
	if len(kinds) > 1 {
		how = "let libomp serve both (LD_PRELOAD its library, which has GCC's entry points, too)"
	}
	return how + ": " + strings.Join(paths, ", ")
}

func threadsAdvice(n int) string { return fmt.Sprintf("OMP_NUM_THREADS=%d", n) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
