package jobs

import (
	"fmt"
	"strings"

	"ompp-attach/job"
	"ompp-attach/report/words"
)

// rivalJSON is a process that had cores for which threads of ranks were ready.
type rivalJSON struct {
	Name   string `json:"name"`
	PID    int    `json:"pid"`
	Host   string `json:"host"`
	Rank   *int   `json:"rank,omitempty"`
	Had    int64  `json:"had_ns"`
	Robbed int    `json:"robbed"`
	Most   int    `json:"most"`
	MostT  int64  `json:"most_ns"`
}

func rivalsToJSON(j *job.Job) (out []rivalJSON) {
	for _, r := range j.Rivals {
		x := rivalJSON{Name: r.Name, PID: r.PID, Host: r.Host, Had: r.T, Robbed: r.Robbed, Most: r.Most, MostT: r.MostT}
		if r.Rank >= 0 {
			x.Rank = &r.Rank
		}
		out = append(out, x)
	}
	return out
}

// rivalNote names the processes that had the cores which threads of ranks lacked; empty: none is
// known, or they took next to nothing.
func rivalNote(j *job.Job) string {
	const most = 5
	all := j.RankStats(func(r *job.Rank) int64 { return r.ThreadTime })
	var had int64
	for _, r := range j.Rivals {
		had += r.T
	}
	if float64(had) < words.LeastShare*all.Total() || had == 0 {
		return ""
	}
	var names []string
	for _, r := range j.Rivals[:min(len(j.Rivals), most)] {
		who := words.Rival(r.Name, r.PID, r.Host)
		if r.Rank >= 0 {
			who = fmt.Sprintf("rank %d", r.Rank)
		}
		from := fmt.Sprintf("from rank %d", r.Most)
		switch {
		case r.Robbed == 1 && r.Most == r.Rank:
			from = "from threads of its own"
		case r.Robbed > 1:
			from = fmt.Sprintf("from %s, %s sec of it from rank %d", words.Plural(r.Robbed, "rank"), words.Decimal(float64(r.MostT)/1e9, 0, 3), r.Most)
		}
		names = append(names, fmt.Sprintf("%s, %s sec %s", who, words.Decimal(float64(r.T)/1e9, 0, 3), from))
	}
	text := "Cores for which threads of ranks were ready to run went to: " + strings.Join(names, "; ")
	if n := len(j.Rivals) - most; n > 0 {
		text += fmt.Sprintf("; less to each of %d others", n)
	}
	return text + "."
}
