package limits

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// wantsSymbols is the share of samples from which on a file's missing names are reported.
const wantsSymbols = 0.01

// DebugNotes list the files without names or lines where these would help, and the packages that
// have them.
func DebugNotes(p *profile.Profile) []string {
	inRegions := map[string]bool{}
	for i := range p.Regions {
		inRegions[p.Regions[i].Location.Object] = true
	}
	var all uint64
	sampled := map[string]uint64{}
	for i := range p.Samples {
		s := &p.Samples[i]
		all += s.Weight
		if len(s.Stack) > 0 && s.Phase != profile.PhaseProbe {
			sampled[p.Frames[s.Stack[0]].Object] += s.Weight
		}
	}
	runtime := map[string]bool{}
	for _, r := range p.Meta.Runtimes {
		runtime[r.Path] = r.Path != p.Meta.Path
	}
	var wanting []*profile.Object
	for i := range p.Objects {
		o := &p.Objects[i]
		if lacksInformation(o) && !runtime[o.Path] && (inRegions[o.Path] || float64(sampled[o.Path]) >= wantsSymbols*float64(max(all, 1))) {
			wanting = append(wanting, o)
		}
	}
	slices.SortStableFunc(wanting, func(a, b *profile.Object) int { return cmp.Compare(sampled[b.Path], sampled[a.Path]) })
	var order []string
	files := map[string][]string{} // by remedy
	for _, o := range wanting {
		helps := debugRemedy(o)
		if files[helps] == nil {
			order = append(order, helps)
		}
		text := path.Base(o.Path)
		if all > 0 {
			text += fmt.Sprintf(", %s%% of the samples", words.Percent(analysis.Ratio(int64(sampled[o.Path]), int64(all))))
		}
		if o.BuildID != "" {
			text += ", build id " + o.BuildID
		}
		files[helps] = append(files[helps], text)
	}
	const few = 3
	var items []string
	for _, helps := range order {
		list := files[helps]
		text := helps + ":\n    " + strings.Join(list[:min(few, len(list))], "\n    ")
		if n := len(list) - few; n > 0 {
			text += "\n    and " + words.Plural(n, "more file")
		}
		items = append(items, text)
	}
	return words.Bullets("Files without debug information (DEBUGINFOD_URLS has it fetched):", items)
}

// lacksInformation reports whether a debug file would tell more. Lines of the C library are not
// read.
func lacksInformation(o *profile.Object) bool {
	if profile.IsCLibrary(o.Path) {
		return !o.Symbols
	}
	return !o.Lines
}

// DebugNote says of a program without debug information what would tell more; empty: it has all.
func DebugNote(o *profile.Object) string {
	if o == nil || !lacksInformation(o) {
		return ""
	}
	return path.Base(o.Path) + " is without debug information. " + debugRemedy(o) + ". DEBUGINFOD_URLS has it fetched."
}

// debugRemedy says what a file lacks, and how to get it.
func debugRemedy(o *profile.Object) string {
	const exported = "names of exported functions only"
	lacks := "no lines"
	if profile.IsCLibrary(o.Path) {
		lacks = exported
	} else if !o.Symbols {
		lacks += ", and " + exported
	}
	switch {
	case o.Debug != "":
		return "Install " + o.Debug + " (" + lacks + ")"
	case o.Symbols:
		return "Build with -g (" + lacks + ")"
	}
	return "Do not strip, or install the debug file (" + lacks + ")"
}
