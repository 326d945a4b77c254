package job

// Crowd is a machine on which a job has more threads than processors to run them.
type Crowd struct {
	Host           string // the host name of the machine's first rank
	Ranks, Threads int
	CPUs           int
}

// Crowds returns the machines on which a rank lacks cores, and on which the job itself has more
// threads than processors that its ranks may use. They are in the order of their first ranks. It
// returns none if the processors of any rank are not known.
func (j *Job) Crowds(lacks func(*Rank) bool) (out []Crowd) {
	type machine struct {
		Crowd
		cpus  map[int]bool
		lacks bool
	}
	var all []*machine
	at := map[string]*machine{} // by clock: one clock, one machine
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if r.CPUs == "" {
			return nil
		}
		m := at[r.Clock]
		if m == nil {
			m = &machine{Crowd: Crowd{Host: r.Host}, cpus: map[int]bool{}}
			at[r.Clock], all = m, append(all, m)
		}
		m.Ranks++
		m.Threads += r.Threads
		m.lacks = m.lacks || lacks(r)
		r.CPUs.AddTo(m.cpus)
	}
	for _, m := range all {
		if m.CPUs = len(m.cpus); m.lacks && m.Threads > m.CPUs {
			out = append(out, m.Crowd)
		}
	}
	return out
}
