package limits

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// UnseenNotes say what could not be observed: each sentence once, with the places for which it
// holds.
func UnseenNotes(p *profile.Profile) []string {
	type place struct {
		text  string
		times int
	}
	var items []string
	places := map[string][]place{} // by the sentence that holds for them
	// Number of places in code that no sample found running, by sentence.
	idle := map[string]int{}
	shares := analysis.UnseenShares(p)
	for i := range p.Unseen {
		u := &p.Unseen[i]
		if u.Object == "" {
			items = append(items, u.What+": "+u.Reason)
			continue
		}
		if places[u.Reason] == nil && idle[u.Reason] == 0 {
			items = append(items, u.Reason)
		}
		if shares[i].Known && shares[i].Most == 0 {
			idle[u.Reason]++
			continue
		}
		text := unseenText(u, shares[i])
		at := slices.IndexFunc(places[u.Reason], func(x place) bool { return x.text == text })
		if at < 0 {
			at = len(places[u.Reason])
			places[u.Reason] = append(places[u.Reason], place{text: text})
		}
		places[u.Reason][at].times++
	}
	for i, reason := range items {
		list := places[reason]
		if list == nil && idle[reason] == 0 {
			continue
		}
		items[i] = strings.ToUpper(reason[:1]) + reason[1:] + ":"
		for _, x := range list {
			items[i] += "\n    " + x.text
			if x.times > 1 {
				items[i] += fmt.Sprintf(" (%d times)", x.times)
			}
		}
		if n := idle[reason]; n > 0 {
			items[i] += "\n    " + words.Plural(n, "construct") + " in code that was not found running"
		}
	}
	return words.Bullets("What this program does, or may do, that could not be observed:", items)
}

// unseenText names a construct that could not be observed, its function and file, and the share of
// the time that it can have taken.
func unseenText(u *profile.Unseen, s analysis.Share) string {
	file := path.Base(u.Object)
	in := fmt.Sprintf("%s+%#x", file, u.Offset)
	if u.Function != "" {
		in = fmt.Sprintf("%s (%s)", u.Function, file)
	}
	return u.What + " in " + in + ", " + shareText(s)
}

// matters is the share of the time from which on the summary names code that could not be observed.
const matters = 0.01

func shareText(s analysis.Share) string {
	switch {
	case !s.Known:
		return "in how much of the time is not known"
	case s.Most < matters:
		return "in code with less than 1% of the time"
	}
	return fmt.Sprintf("in code with %s%% of the time", words.Percent(s.Most))
}

// UnseenTrouble says in one line what could not be observed; what took most time comes first.
func UnseenTrouble(p *profile.Profile) string {
	var heavy, other, possible []string
	light := 0
	shares := analysis.UnseenShares(p)
	for i := range p.Unseen {
		u := &p.Unseen[i]
		switch {
		case u.Possible:
			possible = append(possible, u.What)
		case u.Object == "":
			other = append(other, u.What)
		case shares[i].Known && shares[i].Most < matters:
			light++
		default:
			if text := unseenText(u, shares[i]); !slices.Contains(heavy, text) {
				heavy = append(heavy, text)
			}
		}
	}
	if p.Meta.HasTasks {
		other = append(other, "tasks")
	}
	parts := append(heavy, joinedPlaces(other)...)
	if more := len(parts) - 6; more > 0 {
		parts = append(parts[:6], fmt.Sprintf("%d more", more))
	}
	if light > 0 {
		text := words.Plural(light, "construct") + " in code with less than 1% of the time"
		if len(parts) == 0 {
			text = "nothing that matters: " + text
		}
		parts = append(parts, text)
	}
	if len(possible) > 0 {
		parts = append(parts, "if it has any: "+strings.Join(possible, ", ")+" (their time is in the regions around them)")
	}
	return strings.Join(parts, "; ")
}

// atPlaces matches constructs of one kind at some places.
var atPlaces = regexp.MustCompile(`^(.+?) at (.+ \(\d+\))(?: and (\d+) more)?$`)

// joinedPlaces joins the constructs of a kind that are apart because their reasons differ. The
// summary does not tell the reasons.
func joinedPlaces(constructs []string) (out []string) {
	const few = 4
	places, more := map[string][]string{}, map[string]int{}
	for _, what := range constructs {
		m := atPlaces.FindStringSubmatch(what)
		if m == nil {
			out = append(out, what)
			continue
		}
		kind := m[1]
		if places[kind] == nil {
			out = append(out, kind)
		}
		n, _ := strconv.Atoi(m[3]) // none: 0
		places[kind], more[kind] = append(places[kind], strings.Split(m[2], ", ")...), more[kind]+n
	}
	for i, kind := range out {
		list := places[kind]
		if list == nil {
			continue
		}
		n := more[kind] + max(0, len(list)-few)
		list = list[:min(few, len(list))]
		out[i] = kind + " at " + strings.Join(list, ", ")
		if n > 0 {
			out[i] += fmt.Sprintf(" and %d more places", n)
		}
	}
	return out
}
