package collect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/regions"
	"ompp-attach/symbols"
)

// Constructs of a program that no probe sees. Where the source is there, they are listed construct
// by construct; elsewhere, the kinds of constructs that may be among them.

// unseen lists the constructs of a process that no probe sees.
func (p *Process) unseen() (out []profile.Unseen) {
	has := map[event.Runtime]bool{}
	for _, pl := range p.placed {
		has[pl.plan.Runtime] = true
	}
	known := true
	for i := range p.resolver.mods {
		o := p.resolver.mods[i].Object()
		if !target.UsesGomp(o) && !o.Imports("__kmpc_fork_call") {
			continue
		}
		t := tableOf(o)
		out = append(out, p.invisible(t)...)
		known = known && sourcesKnown(t.Sources)
	}
	if has[event.Gomp] {
		out = append(out, p.unseenInline()...)
	}
	if !known || has[event.Kmpc] && p.ignoresLoop() {
		out = append(out, p.unseenInGeneral(has)...)
	}
	return append(out, p.resolver.namesElsewhere()...)
}

// sourcesKnown tells whether all sources of a file were read.
func sourcesKnown(sources []symbols.Source) bool {
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(s symbols.Source) bool { return s.Path == "" || s.Newer })
}

// invisible lists the constructs in a file's source that are not measured. Constructs of one kind
// and reason are put together.
func (p *Process) invisible(t *regions.Table) (out []profile.Unseen) {
	type directive struct {
		kind event.Construct
		file string
		line int
	}
	seen := map[directive]bool{} // measured in another copy of the code
	for _, r := range t.Regions {
		if r.Measure != regions.Invisible {
			seen[directive{r.Kind, r.File, r.Begin}] = true
		}
	}
	at := map[[2]string][]string{}
	var order [][2]string
	for i := range t.Regions {
		r := &t.Regions[i]
		counted := r.Kind == event.Atomic || r.Kind == event.Flush
		// UnseenInline lists them.
		inlined := r.Kind == event.Loop || r.Kind == event.Master || r.Kind == event.Masked
		if seen[directive{r.Kind, r.File, r.Begin}] || r.Found&regions.BySource == 0 || counted && p.resolver.atomics || inlined && p.resolver.inlining {
			continue
		}
		k := [2]string{strings.ToLower(r.Type()), r.Why}
		if at[k] == nil {
			order = append(order, k)
		}
		at[k] = append(at[k], fmt.Sprintf("%s (%d)", filepath.Base(r.File), r.Begin))
	}
	const few = 4
	for _, k := range order {
		places := slices.Compact(at[k])
		where := strings.Join(places[:min(few, len(places))], ", ")
		if len(places) > few {
			where += fmt.Sprintf(" and %d more", len(places)-few)
		}
		out = append(out, profile.Unseen{What: k[0] + " at " + where, Reason: k[1]})
	}
	return out
}

// unseenInGeneral lists the kinds of constructs that may be unseen in a program whose source is
// missing.
func (p *Process) unseenInGeneral(has map[event.Runtime]bool) (out []profile.Unseen) {
	add := func(what, reason string) {
		out = append(out, profile.Unseen{What: what, Reason: reason, Possible: true})
	}
	atomics := func(what, compiler string) {
		if p.resolver.atomics {
			add(what+" without source ("+compiler+")", "only the directive in the source tells their instructions from others")
		} else {
			add(what+" ("+compiler+")", compiler+" makes plain instructions of them, which call no runtime; --probe-atomics counts them")
		}
	}
	if has[event.Gomp] {
		atomics("atomic, flush", "GCC")
		add("scope, distribute (GCC)", "GCC makes plain instructions of them, but for a scope with a task reduction; their time is that of the region around them")
	}
	if has[event.Kmpc] {
		atomics("atomic", "clang")
	}
	if has[event.Kmpc] && p.ignoresLoop() {
		add("loop (clang before 16)", "these releases ignore the directive: every thread executes the whole loop")
	}
	if has[event.Kmpc] && !has[event.Tgt] {
		add("target (clang without offloading)", "where no code for a device was compiled, a target region is a plain call, and target data, update, enter data and exit data are nothing")
	}
	return out
}

// silence returns a warning if no event came from a process that was attached to. No probe can tell
// where its threads were all the time.
func (p *Process) silence() string {
	if !p.meta.Attached || p.engine.Events() > 0 {
		return ""
	}
	threads, were := "its thread", "was"
	if p.existing > 1 {
		threads, were = fmt.Sprintf("its %d threads", p.existing), "were"
	}
	return fmt.Sprintf("No region, construct or call began or ended while the process was measured. Whether %s %s outside of all of them, or in one all the time, is not known: the report shows what was seen, nothing. Measure for longer, or see with --sample task-clock where they compute.", threads, were)
}
