package places

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes/inline"
	"ompp-attach/profile"
	"ompp-attach/regions"
	"ompp-attach/symbols"
)

// Constructs of a program that no probe sees. Where the source is there, they are listed construct
// by construct; elsewhere, the kinds of constructs that may be among them.

// Unseen lists the constructs of the process that no probe sees. has are the runtimes that have
// probes. probed tells whether probes were placed in a module's own code, if any were wanted there.
func (r *Resolver) Unseen(has map[event.Runtime]bool, probed func(*symbols.Module) bool) (out []profile.Unseen) {
	known := true
	for i := range r.mods {
		o := r.mods[i].Object()
		if !target.UsesGomp(o) && !o.Imports("__kmpc_fork_call") {
			continue
		}
		t := tableOf(o)
		out = append(out, r.invisible(o, t)...)
		known = known && sourcesKnown(t.Sources)
	}
	if has[event.Gomp] {
		out = append(out, r.unseenInline(probed)...)
	}
	if !known || has[event.Kmpc] && r.ignoresLoop() {
		out = append(out, r.unseenInGeneral(has)...)
	}
	return append(out, r.namesElsewhere()...)
}

// sourcesKnown tells whether all sources of a file were read.
func sourcesKnown(sources []symbols.Source) bool {
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(s symbols.Source) bool { return s.Path == "" || s.Newer })
}

// invisible lists the constructs in a file's source that are not measured. Constructs of one kind
// and reason are put together.
func (r *Resolver) invisible(o *symbols.Object, t *regions.Table) (out []profile.Unseen) {
	type directive struct {
		kind event.Construct
		file string
		line int
	}
	seen := map[directive]bool{} // measured in another copy of the code
	for _, reg := range t.Regions {
		if reg.Measure != regions.Invisible {
			seen[directive{reg.Construct, reg.File, reg.Begin}] = true
		}
	}
	at := map[[2]string][]string{}
	var order [][2]string
	for i := range t.Regions {
		reg := &t.Regions[i]
		counted := reg.Construct == event.Atomic || reg.Construct == event.Flush
		// UnseenInline lists them.
		inlined := reg.Construct == event.Loop || reg.Construct == event.Master || reg.Construct == event.Masked
		if seen[directive{reg.Construct, reg.File, reg.Begin}] || reg.Found&regions.BySource == 0 || inlined && r.Inlining {
			continue
		}
		why := reg.Why
		if counted && r.Atomics {
			if inline.Atomics(o).Has(reg.Construct, reg.File, reg.Begin) {
				continue
			}
			if reg.Found != regions.BySource {
				why = uncounted(o)
			}
		}
		k := [2]string{strings.ToLower(reg.Type()), why}
		if at[k] == nil {
			order = append(order, k)
		}
		at[k] = append(at[k], fmt.Sprintf("%s (%d)", filepath.Base(reg.File), reg.Begin))
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

// uncounted says why --probe-atomics does not count an atomic or flush construct.
func uncounted(o *symbols.Object) string {
	if o.Arch() != "amd64" {
		return "--probe-atomics does not read the code of " + o.Arch()
	}
	return "plain moves of the processor, which nothing tells from others, or no instruction that is executed exactly as often: --probe-atomics cannot count them"
}

// unseenInGeneral lists the kinds of constructs that may be unseen in a program whose source is
// missing.
func (r *Resolver) unseenInGeneral(has map[event.Runtime]bool) (out []profile.Unseen) {
	add := func(what, reason string) {
		out = append(out, profile.Unseen{What: what, Reason: reason, Possible: true})
	}
	atomics := func(what, compiler string) {
		if r.Atomics {
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
	if has[event.Kmpc] && r.ignoresLoop() {
		add("loop (clang before 16)", "these releases ignore the directive: every thread executes the whole loop")
	}
	if has[event.Kmpc] && !has[event.Tgt] {
		add("target (clang without offloading)", "where no code for a device was compiled, a target region is a plain call, and target data, update, enter data and exit data are nothing")
	}
	return out
}

// ignoresLoop tells whether a module with OpenMP was compiled by a clang that ignores the loop
// directive, or by an unknown release.
func (r *Resolver) ignoresLoop() bool {
	const first = 16
	for i := range r.mods {
		o := r.mods[i].Object()
		if !o.Imports("__kmpc_fork_call") {
			continue
		}
		known := false
		for _, producer := range o.Producers() {
			if m := clangVersion.FindStringSubmatch(producer); m != nil {
				known = true
				if v, err := strconv.Atoi(m[1]); err == nil && v < first {
					return true
				}
			}
		}
		if !known {
			return true
		}
	}
	return false
}

var clangVersion = regexp.MustCompile(`clang version (\d+)`)

// unseenInline lists the inline constructs of a process that no probe sees, with the reasons.
func (r *Resolver) unseenInline(probed func(*symbols.Module) bool) (out []profile.Unseen) {
	if !r.Inlining {
		return []profile.Unseen{{What: "static loops, master (GCC)",
			Reason: "their probes are switched off: their time is that of the region around them, and the wait after a static loop shows as a BARRIER or as the region's exitBarT"}}
	}
	for i := range r.mods {
		o := r.mods[i].Object()
		if !probed(&r.mods[i]) || !target.UsesGomp(o) {
			continue
		}
		if o.Arch() != "amd64" {
			return []profile.Unseen{{What: "static loops, master (GCC)", Reason: "GCC makes plain instructions of them, which this version does not read on " + o.Arch()}}
		}
		for _, u := range inline.Of(o).Unseen {
			_, body := tableOf(o).Function(u.Fn)
			out = append(out, profile.Unseen{What: u.What, Reason: u.Reason, Object: r.mods[i].Path, Offset: u.Fn, Body: body,
				Function: r.function(place{&r.mods[i], o, u.Fn}, u.Fn)})
		}
	}
	return out
}
