package perfcounters

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"golang.org/x/sys/unix"
)

// Parse makes counters of a list that is separated by commas. Commas within /.../ belong to an
// event. The list may hold names as in perf (cycles, L1-dcache-load-misses, page-faults), raw
// events (r01c2), and events of a unit (cpu/event=0xc2,umask=1/, cpu/mem-loads/). It may also hold
// events that sysfs names, and PAPI's presets (PAPI_TOT_CYC). With the suffix :u or :k, events in
// user or kernel mode only are counted. The error is one sentence. If a name is not known it wraps
// ErrUnknown, and offers the most similar names.
func (m Machine) Parse(list string) ([]Counter, error) {
	var out []Counter
	for _, s := range split(list) {
		c, err := m.parse(s)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Counter) bool { return o.Name == c.Name }) {
			return nil, fmt.Errorf("counter %s is asked for twice", c.Name)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: the list is empty", ErrUnknown)
	}
	return out, nil
}

// split splits a list at the commas that do not lie between slashes.
func split(list string) (out []string) {
	inside := false
	for s := range strings.FieldsFuncSeq(list, func(r rune) bool {
		if r == '/' {
			inside = !inside
		}
		return r == ',' && !inside
	}) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

var (
	rawEvent  = regexp.MustCompile(`^r([0-9a-fA-F]{1,16})$`)
	unitEvent = regexp.MustCompile(`^([A-Za-z_][\w.-]*)/([^/]*)/(.*)$`)
)

func (m Machine) parse(s string) (Counter, error) {
	name, modifiers := s, ""
	if u := unitEvent.FindStringSubmatch(s); u != nil {
		name, modifiers = strings.TrimSuffix(s, u[3]), strings.TrimPrefix(u[3], ":")
	} else if base, mod, ok := strings.Cut(s, ":"); ok {
		name, modifiers = base, mod
	}
	c, err := m.find(name)
	if err != nil {
		return c, err
	}
	c.Name = s
	switch modifiers {
	case "", "uk", "ku":
	case "u":
		c.UserOnly = true
	case "k":
		c.KernelOnly = true
	default:
		return c, fmt.Errorf("%s: modifier %q is not known; there are :u (user mode only) and :k (kernel mode only)", s, modifiers)
	}
	if c.Kind == Software && (c.UserOnly || c.KernelOnly) {
		return c, fmt.Errorf("%s: the kernel counts %s without telling the modes apart", s, name)
	}
	return c, nil
}

func (m Machine) find(name string) (Counter, error) {
	if c, ok := named(name); ok {
		return c, nil
	}
	if strings.HasPrefix(strings.ToUpper(name), "PAPI_") {
		return m.preset(strings.ToUpper(name))
	}
	if u := unitEvent.FindStringSubmatch(name); u != nil {
		if !strings.ContainsAny(u[2], "=,") {
			if c, err := m.event(u[1], u[2]); err == nil {
				return c, nil
			}
		}
		return m.fromTerms(u[1], u[2])
	}
	for _, unit := range m.Units() {
		if c, err := m.event(unit, name); err == nil {
			return c, nil
		}
	}
	if r := rawEvent.FindStringSubmatch(name); r != nil {
		v, err := strconv.ParseUint(r[1], 16, 64)
		return Counter{PMU: "cpu", Type: unix.PERF_TYPE_RAW, Config: v, Description: "raw event"}, err
	}
	return Counter{}, fmt.Errorf("%w %q%s; `ompp-attach counters` lists them", ErrUnknown, name, offer(name, m.names()))
}

// names returns all names that a user may have meant.
func (m Machine) names() (out []string) {
	for _, c := range Generic() {
		out = append(out, c.Name)
	}
	for _, u := range m.Units() {
		for _, c := range m.Events(u) {
			out = append(out, c.Name)
		}
	}
	for p := range presets {
		out = append(out, p)
	}
	return out
}

// offer names at most three candidates that are similar to the wanted name, as the end of a
// sentence.
func offer(asked string, candidates []string) string {
	type near struct {
		name     string
		distance int
	}
	var list []near
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(strings.ToLower(asked), strings.ToLower(c))
		if d <= max(2, len(asked)/3) {
			list = append(list, near{c, d})
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.SortFunc(list, func(a, b near) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	list = slices.Compact(list)
	var names []string
	for _, n := range list[:min(3, len(list))] {
		names = append(names, n.name)
	}
	return " (do you mean " + strings.Join(names, ", ") + "?)"
}
