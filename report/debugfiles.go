package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/attribution"
)

// wantsSymbols is the share of samples from which on a file's missing names are told.
const wantsSymbols = 0.01

// debugNotes say of which files names or lines are missing, where they would help, and
// which package has them.
func debugNotes(p *attribution.Profile) []string {
	inRegions := map[string]bool{}
	for i := range p.Regions {
		inRegions[p.Regions[i].Location.Object] = true
	}
	var all uint64
	sampled := map[string]uint64{}
	for i := range p.Samples {
		s := &p.Samples[i]
		all += s.Weight
		if len(s.Stack) > 0 && s.Phase != attribution.PhaseProbe {
			sampled[p.Frames[s.Stack[0]].Object] += s.Weight
		}
	}
	runtime := map[string]bool{}
	for _, r := range p.Meta.Runtimes {
		runtime[r.Path] = r.Path != p.Meta.Path
	}
	var wanting []*attribution.Object
	for i := range p.Objects {
		o := &p.Objects[i]
		if !o.Lines && !runtime[o.Path] && (inRegions[o.Path] || float64(sampled[o.Path]) >= wantsSymbols*float64(max(all, 1))) {
			wanting = append(wanting, o)
		}
	}
	slices.SortStableFunc(wanting, func(a, b *attribution.Object) int { return cmp.Compare(sampled[b.Path], sampled[a.Path]) })
	var items []string
	for _, o := range wanting {
		lacks := "no lines"
		if !o.Symbols {
			lacks = "no lines, and no names but of what it exports"
		}
		text := fmt.Sprintf("%s (%s%% of the samples): %s", path.Base(o.Path), share(analysis.Ratio(int64(sampled[o.Path]), int64(all))), lacks)
		if p.Meta.Sampling == nil {
			text = fmt.Sprintf("%s: %s", path.Base(o.Path), lacks)
		}
		switch {
		case o.Debug != "":
			text += "; install " + o.Debug
		case o.Package == "" && !o.Symbols:
			text += "; do not strip it, or install its debug file"
		default:
			text += "; build it with -g"
		}
		if o.BuildID != "" {
			text += " (build id " + o.BuildID + ")"
		}
		items = append(items, text)
	}
	return bullets("Files without debug information (DEBUGINFOD_URLS has it fetched):", items)
}
