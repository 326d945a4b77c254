package report

import (
	"fmt"
	"path"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// hottest is the number of lines that the text report shows of each region.
const hottest = 3

var phaseOrder = []string{profile.PhaseBody, profile.PhaseEnter, profile.PhaseBarrier, profile.PhaseExit,
	profile.PhaseMPI, profile.PhaseProbe, profile.PhaseIdle, ""}

// hotLines writes the lines of code in which most samples were taken.
func (o *ompp) hotLines() {
	if o.p.Meta.Sampling == nil {
		return
	}
	o.banner("Hottest Lines")
	o.printf("%s.\n", samplingText(o.p))
	hot := analysis.HotLines(o.p)
	var all, atomic uint64
	phases := map[string]uint64{}
	for i := range hot {
		all += hot[i].Weight
		atomic += hot[i].Atomic
		for phase, w := range hot[i].Phases {
			phases[phase] += w
		}
	}
	part := func(w, of uint64) string { return percent(analysis.Ratio(int64(w), int64(of))) }
	if all > 0 {
		o.printf("By phase: %s%s.\n", phasesText(phases, all, part), atomicText(atomic, all, part))
	}
	if phases[profile.PhaseProbe] > 0 {
		o.printf("%s\n", probePhaseText(o.p.Meta.Adjusted))
	}
	o.printf("\n")
	others := 0
	for i := range hot {
		h := &hot[i]
		if h.Region >= 0 && !o.All && float64(h.Weight) < little*float64(all) {
			others++
			continue
		}
		where := "outside regions"
		if h.Region >= 0 {
			where = words.Label(o.p, h.Region)
		}
		o.printf("%s: %s%% of all: %s%s\n", where, strings.TrimSpace(part(h.Weight, all)), phasesText(h.Phases, h.Weight, part), atomicText(h.Atomic, h.Weight, part))
		for _, l := range h.Lines[:min(hottest, len(h.Lines))] {
			o.printf("  %s%%  %s\n", part(l.Weight, h.Weight), o.lineText(h.Region, l))
		}
	}
	if others > 0 {
		o.printf("... %s of the samples (--all shows them)\n", joined(others, "region"))
	}
	o.printf("\n")
}

// probePhaseText explains the samples that were taken in the measurement itself.
func probePhaseText(adjusted bool) string {
	const text = "Samples of phase probe are time of the measurement itself: in no line of code below, "
	if adjusted {
		return text + "and not in the regions' times, from which it is taken."
	}
	return text + "but in the regions' times."
}

func phasesText(phases map[string]uint64, all uint64, part func(w, of uint64) string) string {
	var out []string
	for _, phase := range phaseOrder {
		if w := phases[phase]; w > 0 {
			name := phase
			if name == "" {
				name = "program"
			}
			out = append(out, fmt.Sprintf("%s %s%%", name, strings.TrimSpace(part(w, all))))
		}
	}
	return strings.Join(out, ", ")
}

// atomicText says which part of the samples were taken in atomic operations, which no probe times.
func atomicText(w, of uint64, part func(w, of uint64) string) string {
	if w == 0 {
		return ""
	}
	return fmt.Sprintf("; in atomic operations %s%%", strings.TrimSpace(part(w, of)))
}

func (o *ompp) lineText(region int, l analysis.HotLine) string {
	var text string
	switch {
	case l.Frame >= 0:
		f := &o.p.Frames[l.Frame]
		text = words.Clean(frameFunction(f))
		switch {
		case f.Line > 0:
			text = fmt.Sprintf("%s:%d %s", words.Clean(path.Base(f.File)), f.Line, text)
		case f.Function != "" && f.Object != "" && f.Object != o.p.Meta.Path:
			text += " (" + words.Clean(path.Base(f.Object)) + ")"
		}
		if f.Atomic {
			text += " (atomic)"
		}
	case l.Callee >= 0:
		at := &o.p.Regions[region].Location
		text = strings.TrimSpace(fmt.Sprintf("%s:%d %s", words.Clean(path.Base(at.File)), at.Begin, words.Clean(at.Function)))
	default:
		return "(unknown place)"
	}
	if l.Callee >= 0 {
		text += " in " + words.Clean(frameFunction(&o.p.Frames[l.Callee]))
	}
	if l.Caller >= 0 {
		text += ", called by " + words.Clean(frameFunction(&o.p.Frames[l.Caller]))
		if l.Several {
			text += " and others"
		}
	}
	return text
}
