package job

import (
	"cmp"
	"slices"
)

// Rival is a process that had cores while threads of the job's ranks were ready to run (--sched).
// Times are in ns.
type Rival struct {
	Name string // of the program
	PID  int
	Host string
	Rank int   // the rank, if the process is a rank of the job; -1: it is not
	T    int64 // how long the process had such cores
	// Robbed is the number of ranks with threads that were ready meanwhile. Most is the rank for
	// which this lasted longest, and MostT is how long.
	Robbed, Most int
	MostT        int64
}

// rivals adds up the rivals of all ranks.
func (j *Job) rivals() (out []Rival) {
	type process struct {
		host string
		pid  int
		name string
	}
	rankOf := map[process]*Rank{}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		rankOf[process{host: r.Host, pid: r.PID}] = r
	}
	at := map[process]int{}
	for i := range j.Ranks {
		lacks := &j.Ranks[i]
		had := map[process]int64{}
		for _, v := range j.robbed[lacks.Rank] {
			p := process{lacks.Host, v.PID, v.Name}
			if r := rankOf[process{host: p.host, pid: p.pid}]; r != nil {
				p.name = r.Program // threads of the process may have other names
			}
			had[p] += v.T
		}
		for p, t := range had {
			n, ok := at[p]
			if !ok {
				n = len(out)
				at[p] = n
				out = append(out, Rival{Name: p.name, PID: p.pid, Host: p.host, Rank: -1})
				if r := rankOf[process{host: p.host, pid: p.pid}]; r != nil {
					out[n].Rank = r.Rank
				}
			}
			out[n].add(lacks.Rank, t)
		}
	}
	slices.SortFunc(out, func(a, b Rival) int {
		return cmp.Or(cmp.Compare(b.T, a.T), cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (r *Rival) add(rank int, t int64) {
	r.T += t
	r.Robbed++
	if t > r.MostT {
		r.Most, r.MostT = rank, t
	}
}
