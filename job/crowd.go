package job

import "math"

// Crowd is a machine on which a job has more threads than may run at a time.
type Crowd struct {
	Host           string // the host name of the machine's first rank
	Ranks, Threads int
	CPUs           int  // how many of these threads may run at a time
	Limited        bool // control groups allow less processor time than the affinity masks
}

// crowded is a machine whose ranks are looked at.
type crowded struct {
	Crowd
	cpus   map[int]bool       // of the ranks' affinity masks
	quotas map[uint64]float64 // processor time per elapsed time, by control group
	free   bool               // a rank has no such limit
	lacks  bool
}

// Crowds returns the machines on which a rank lacks cores, and on which the job itself has more
// threads than its ranks' affinity masks and control groups let run at a time. They are in the
// order of their first ranks. It returns none if the processors of any rank are not known.
func (j *Job) Crowds(lacks func(*Rank) bool) (out []Crowd) {
	var all []*crowded
	at := map[string]*crowded{} // by clock: one clock, one machine
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if r.CPUs == "" {
			return nil
		}
		m := at[r.Clock]
		if m == nil {
			m = &crowded{Crowd: Crowd{Host: r.Host}, cpus: map[int]bool{}, quotas: map[uint64]float64{}}
			at[r.Clock], all = m, append(all, m)
		}
		m.add(r)
		m.lacks = m.lacks || lacks(r)
	}
	for _, m := range all {
		m.count()
		if m.lacks && m.Threads > m.CPUs {
			out = append(out, m.Crowd)
		}
	}
	return out
}

func (m *crowded) add(r *Rank) {
	m.Ranks++
	m.Threads += r.Threads
	r.CPUs.AddTo(m.cpus)
	if r.Quota == nil {
		m.free = true
		return
	}
	m.quotas[r.Quota.Group] = r.Quota.CPUs
}

// count says how many threads may run at a time. Of a limit of a core and a half, the half core can
// run a thread, too.
func (m *crowded) count() {
	m.CPUs = len(m.cpus)
	if m.free {
		return
	}
	allowed := 0.0
	for _, q := range m.quotas {
		allowed += q
	}
	if n := int(math.Ceil(allowed)); n < m.CPUs {
		m.CPUs, m.Limited = n, true
	}
}
