package attribution

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"ompp-attach/profile"
)

// The simulation's paths are those of creation, in full. Here they are folded, by the definition.
// Of tasks that create each other, directly or not, a path holds one. It stands at the place at
// which the first of them was created, below the creation that leads to it in the fewest steps.

// creation is of one kind of task by another one, in an outermost region.
type creation struct{ region, by, of string }

func isExec(element string) bool { return strings.Contains(element, "TASKEXEC") }

// execOf is the execution that an element creates, "" if none.
func execOf(element string) string {
	name, fn, _ := strings.Cut(element, "@")
	switch name {
	case "TASK", "TASKLOOP":
		return "TASKEXEC@" + fn
	case "UTASK":
		return "UTASKEXEC@" + fn
	}
	return ""
}

func elements(path string) []string { return strings.Split(path[1:], "/") }

// region is the outermost one of a path, "" if there is none.
func region(path string) string {
	if path == "" {
		return ""
	}
	if first := elements(path)[0]; execOf(first) == "" && !isExec(first) {
		return first
	}
	return ""
}

// noteCreation notes the creation of the task that a path ends with.
func (s *simulation) noteCreation(path string) {
	all := elements(path)
	for _, el := range slices.Backward(all[:len(all)-1]) {
		if isExec(el) {
			s.created[creation{region(path), el, all[len(all)-1]}] = true
			return
		}
	}
}

// leads tells whether one task comes of another one, over any number of others.
func (s *simulation) leads(region, from, to string, seen map[string]bool) bool {
	for c := range s.created {
		if c.region == region && c.by == from && !seen[c.of] {
			if seen[c.of] = true; c.of == to || s.leads(region, c.of, to, seen) {
				return true
			}
		}
	}
	return false
}

func (s *simulation) together(region, a, b string) bool {
	return a == b || s.leads(region, a, b, map[string]bool{}) && s.leads(region, b, a, map[string]bool{})
}

// fold gives all figures their folded paths.
func (s *simulation) fold() {
	all := map[string]bool{}
	staged := map[string]string{}
	for at := range s.want {
		p := s.staged(at.path)
		staged[at.path], all[p] = p, true
	}
	for ctx := freest(all); ctx != nil; ctx = freest(all) {
		at := s.located(all, *ctx)
		next := map[string]bool{}
		for p := range all {
			next[relocated(p, *ctx, at)] = true
		}
		for full, p := range staged {
			staged[full] = relocated(p, *ctx, at)
		}
		all = next
	}
	out := map[figureKey]*figures{}
	s.folded = map[*figures]*figures{}
	for at, v := range s.want {
		at.path = staged[at.path]
		if out[at] == nil {
			out[at] = &figures{}
		}
		out[at].add(v)
		s.folded[v] = out[at]
	}
	s.want = out
}

// staged is a path with one execution of each group, right where the first one was created. It is
// without a creation, unless it is the first one itself.
func (s *simulation) staged(path string) string {
	var out []string
	for _, el := range elements(path) {
		i := -1
		if isExec(el) {
			i = slices.IndexFunc(out, func(x string) bool { return isExec(x) && s.together(region(path), x, el) })
		}
		switch {
		case i < 0:
			out = append(out, el)
		case out[i] == el:
			out = out[:i+1]
		default:
			if i > 0 && execOf(out[i-1]) == out[i] {
				i--
			}
			out = append(out[:i:i], el)
		}
	}
	return "/" + strings.Join(out, "/")
}

// freest returns the shortest path below which executions stand without a
// creation; nil if there are none.
func freest(all map[string]bool) (ctx *string) {
	for p := range all {
		els := elements(p)
		for i, el := range els {
			if isExec(el) && (i == 0 || execOf(els[i-1]) != el) {
				c := strings.Join(append([]string{""}, els[:i]...), "/")
				if ctx == nil || strings.Count(c, "/") < strings.Count(*ctx, "/") {
					ctx = &c
				}
				break
			}
		}
	}
	return ctx
}

// relocated is a path with the execution that stands freely where it belongs.
func relocated(p, ctx string, at map[string]string) string {
	rest, ok := strings.CutPrefix(p, ctx+"/")
	el, more, deeper := strings.Cut(rest, "/")
	switch {
	case !ok || !isExec(el):
		return p
	case deeper:
		return at[el] + "/" + more
	}
	return at[el]
}

// located tells where executions that stand freely below a path belong: where
// the fewest creations lead to.
func (s *simulation) located(all map[string]bool, ctx string) map[string]string {
	at := map[string]string{}
	free := map[string]bool{}
	for p := range all {
		if rest, ok := strings.CutPrefix(p, ctx+"/"); ok && isExec(elements("/" + rest)[0]) {
			free[elements("/" + rest)[0]] = true
		}
	}
	var queue []string // executions
	for _, c := range creationsBelow(all, 1, ctx) {
		if x := execOf(c); at[x] == "" {
			at[x] = ctx + "/" + c + "/" + x
			queue = append(queue, x)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		by := queue[0]
		for _, c := range creationsBelow(all, 1<<30, ctx+"/"+by, at[by]) {
			els := strings.Split(c, "/")
			x := execOf(els[len(els)-1])
			if free[x] && at[x] == "" && s.together(region(ctx), by, x) {
				at[x] = at[by] + "/" + c + "/" + x
				queue = append(queue, x)
			}
		}
	}
	for x := range free {
		if at[x] == "" {
			panic(x + " has no creation in " + ctx)
		}
	}
	return at
}

// creationsBelow are the ways from the given paths to where tasks are created,
// without others between: the shortest first.
func creationsBelow(all map[string]bool, longest int, from ...string) []string {
	seen := map[string]bool{}
	for p := range all {
		for _, f := range from {
			rest, ok := strings.CutPrefix(p, f+"/")
			for i, el := range strings.Split(rest, "/") {
				if !ok || isExec(el) || i == longest {
					break
				}
				if execOf(el) != "" {
					seen[strings.Join(strings.Split(rest, "/")[:i+1], "/")] = true
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
		x, y := strings.Split(a, "/"), strings.Split(b, "/")
		slices.Reverse(x)
		slices.Reverse(y)
		line := func(a, b string) int { return cmp.Compare(a[strings.Index(a, "@"):], b[strings.Index(b, "@"):]) }
		return cmp.Or(cmp.Compare(len(x), len(y)), slices.CompareFunc(x, y, line))
	})
}

func (f *figures) add(o *figures) {
	for _, s := range [][2]*profile.Sum{{&f.Exec, &o.Exec}, {&f.Enter, &o.Enter}, {&f.Body, &o.Body}, {&f.Barrier, &o.Barrier}, {&f.Exit, &o.Exit}} {
		s[0].Add(*s[1])
	}
	f.Own += o.Own
	f.Task += o.Task
	f.Tasks += o.Tasks
}
