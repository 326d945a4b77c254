package page

import (
	"cmp"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/report"
)

// hot adds the lines that were sampled most.
func (b *builder) hot() {
	s := b.p.Meta.Sampling
	if s == nil {
		return
	}
	b.out.Sampled = clean(s.Event)
	b.sampled = analysis.HotLines(b.p)
	for _, h := range b.sampled {
		if h.Region < 0 {
			continue
		}
		out := &Hot{Weight: h.Weight, Phases: map[string]uint64{}, Lines: []HotLine{}}
		for phase, w := range h.Phases {
			out.Phases[cmp.Or(phase, "program")] += w
		}
		for _, l := range h.Lines[:min(mostLines, len(h.Lines))] {
			line := HotLine{Text: report.HotLineText(b.p, h.Region, l), Weight: l.Weight}
			if l.Frame >= 0 {
				line.File, line.Line = clean(b.p.Frames[l.Frame].File), b.p.Frames[l.Frame].Line
			}
			out.Lines = append(out.Lines, line)
		}
		b.out.Regions[h.Region].Hot = out
	}
}

// sources adds the source text of regions and of hot lines.
func (b *builder) sources() {
	wanted := map[string]map[int]bool{}
	want := func(file string, from, to int) {
		for n := from; n > 0 && n <= to; n++ {
			if wanted[file] == nil {
				wanted[file] = map[int]bool{}
			}
			wanted[file][n] = true
		}
	}
	for i := range b.p.Regions {
		if l := &b.p.Regions[i].Location; l.File != "" && l.Begin > 0 {
			want(l.File, l.Begin, min(max(l.Begin, l.End), l.Begin+mostOfRegion-1))
		}
	}
	for _, h := range b.sampled {
		for _, l := range h.Lines[:min(mostLines, len(h.Lines))] {
			if l.Frame >= 0 && b.p.Frames[l.Frame].Line > 0 {
				f := &b.p.Frames[l.Frame]
				want(f.File, f.Line, f.Line)
			}
		}
	}
	var names []string
	for name := range wanted {
		names = append(names, name)
	}
	slices.Sort(names)
	left := mostSource
	for _, name := range names {
		s := readSource(name, wanted[name], b.p.Meta.Start, left)
		for _, l := range s.Lines {
			left -= len(l)
		}
		b.out.Sources = append(b.out.Sources, s)
	}
}
