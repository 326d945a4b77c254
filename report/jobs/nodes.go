package jobs

import (
	"cmp"
	"fmt"
	"strings"

	"ompp-attach/job"
)

// nodes names the nodes. Of several, the ranks of each are told, or their number if they are no
// few spans.
func nodes(j *job.Job) string {
	var names []string
	ranks := map[string][]int{}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if len(ranks[r.Host]) == 0 {
			names = append(names, r.Host)
		}
		ranks[r.Host] = append(ranks[r.Host], r.Rank)
	}
	for i, name := range names {
		if len(names) == 1 {
			break
		}
		which := strings.Join(job.Spans(ranks[name]), ", ")
		switch n := len(ranks[name]); {
		case n == 1:
			which = "rank " + which
		case strings.Count(which, ",") > 1:
			which = fmt.Sprintf("%d ranks", n)
		default:
			which = "ranks " + which
		}
		names[i] = fmt.Sprintf("%s (%s)", cmp.Or(name, "not known"), which)
	}
	return counted(names)
}
