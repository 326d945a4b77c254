package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// FlagGroup is a number of flags that a help text shows together, under a title.
type FlagGroup struct {
	Title string
	Names string // with blanks between
}

// FlagGroups are groups of the flags of run, attach and top. A help text shows all other flags
// first.
var FlagGroups = []FlagGroup{
	{"What is measured", "disable function level mpi-all no-inline only probe-atomics region"},
	{"Counters and samples", "counters eval sample sample-period"},
	{"Cost for the program", "derive-edges max-overhead trace"},
	{"Single executions, waits", "sched timeline waits when"},
	{"What reports show", "all classic classic-overheads decimals raw sort volumes"},
}

// fewFlags is the number of flags up to which a help text shows all of them in one list.
const fewFlags = 20

// usages returns the part of a help text that describes a command's flags.
func usages(all *pflag.FlagSet, columns int) string {
	shown := 0
	all.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shown++
		}
	})
	if shown <= fewFlags {
		return "Flags:\n" + all.FlagUsagesWrapped(columns)
	}
	sets := make([]pflag.FlagSet, 1+len(FlagGroups))
	all.VisitAll(func(f *pflag.Flag) { sets[groupOf(f)].AddFlag(f) })
	text := "Flags:\n" + sets[0].FlagUsagesWrapped(columns)
	for i, g := range FlagGroups {
		if !sets[1+i].HasAvailableFlags() {
			continue
		}
		text += "\n" + g.Title + ":\n" + sets[1+i].FlagUsagesWrapped(columns)
	}
	return text
}

// groupOf returns the number of a flag's group, from 1 on; 0: the flag belongs to no group.
func groupOf(f *pflag.Flag) int {
	return 1 + slices.IndexFunc(FlagGroups, func(g FlagGroup) bool {
		return slices.Contains(strings.Fields(g.Names), f.Name)
	})
}
