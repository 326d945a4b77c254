package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"ompp-attach/profile"
)

// FewCore is a share of time with a core. If threads had a core for less, a finding says so: the
// cause may be the machine, not the program.
const FewCore = 0.9

// Crew are the threads of a process, and where they may run.
type Crew struct {
	Host, Clock string         // one clock (profile.Meta.ClockName), one machine
	CPUs        profile.CPUs   // empty: not known
	Quota       *profile.Quota // nil: no limit, or not known
	Threads     int            // at a time (AtOnce)
	Lacks       bool           // its threads lacked cores for a good part of their time
}

// AtOnce returns how many of a process's threads lived at a time: their mean number over the
// measured time, rounded up. time is that of all threads, wall that of the process (ns).
func AtOnce(threads int, time, wall int64) int {
	if wall <= 0 {
		return threads
	}
	return max(1, min(threads, int(math.Ceil(float64(time)/float64(wall)))))
}

// CrewOf returns the crew of a process.
func CrewOf(p *profile.Profile) Crew {
	m := &p.Meta
	return Crew{Host: m.Host, Clock: m.ClockName(), CPUs: m.CPUs, Quota: m.Quota, Threads: AtOnce(Threads(p), ThreadTime(p), m.Duration), Lacks: ProgramCoreShare(p) < FewCore}
}

// Crowd are processes that have more threads than may run at a time.
type Crowd struct {
	Host                     string // the host name of the machine's first process
	Processes, Threads, CPUs int
	Limited                  bool // control groups set the limit, not the processors
}

// crowdOf returns the crowd of some crews of which as many threads as cpus may run at a time. ok is
// false if these are enough, or if no crew lacks cores.
func crowdOf(crews []Crew, cpus int) (c Crowd, ok bool) {
	c.CPUs = cpus
	for i := range crews {
		c.Processes++
		c.Threads += crews[i].Threads
		ok = ok || crews[i].Lacks
	}
	return c, ok && c.Threads > c.CPUs
}

// Crowds returns a crowd for each machine on which processes have more threads than processors on
// which these processes may run, or than their control groups let run, and one of them lacks cores.
// They are in the order of the first processes. Of several sets of processors of a machine, the one
// with the most threads too many counts. The launcher may have bound each process to processors of
// its own, so one may be crowded where another is not. Processes of which the processors are not
// known are left out.
func Crowds(crews []Crew) (out []Crowd) {
	at, machines := map[string]int{}, [][]Crew{}
	for _, c := range crews {
		if c.CPUs == "" {
			continue
		}
		k, ok := at[c.Clock]
		if !ok {
			k = len(machines)
			at[c.Clock], machines = k, append(machines, nil)
		}
		machines[k] = append(machines[k], c)
	}
	for _, crews := range machines {
		all := append(byMask(crews), byQuota(crews)...)
		if len(all) == 0 {
			continue
		}
		worst := slices.MaxFunc(all, func(a, b Crowd) int {
			return cmp.Or(cmp.Compare(a.Threads-a.CPUs, b.Threads-b.CPUs), cmp.Compare(a.Processes, b.Processes))
		})
		worst.Host = crews[0].Host
		out = append(out, worst)
	}
	return out
}

// mostMasks bounds the sets of processors of a machine that are compared with each other.
const mostMasks = 512

// byMask returns the crowds of a machine by the processors on which they may run.
func byMask(crews []Crew) (out []Crowd) {
	var masks []*big.Int // distinct affinity masks
	of, all := map[profile.CPUs]*big.Int{}, new(big.Int)
	for _, c := range crews {
		if of[c.CPUs] == nil {
			of[c.CPUs] = maskOf(c.CPUs)
			masks = append(masks, of[c.CPUs])
			all.Or(all, of[c.CPUs])
		}
	}
	if len(masks) > mostMasks {
		masks = []*big.Int{all}
	}
	add := func(set *big.Int) bool {
		var here []Crew // that may run on processors of set only
		for _, c := range crews {
			if new(big.Int).AndNot(of[c.CPUs], set).Sign() == 0 {
				here = append(here, c)
			}
		}
		c, ok := crowdOf(here, count(set))
		if ok {
			out = append(out, c)
		}
		return ok
	}
	tooMany := new(big.Int) // the processors of all sets that are crowded
	for _, set := range slices.Concat(masks, joined(masks)) {
		if add(set) {
			tooMany.Or(tooMany, set)
		}
	}
	add(tooMany)
	return out
}

// joined joins the masks that overlap.
func joined(masks []*big.Int) (apart []*big.Int) {
	for _, m := range masks {
		sum := new(big.Int).Set(m)
		apart = slices.DeleteFunc(apart, func(o *big.Int) bool {
			overlap := new(big.Int).And(o, m).Sign() != 0
			if overlap {
				sum.Or(sum, o)
			}
			return overlap
		})
		apart = append(apart, sum)
	}
	return apart
}

// byQuota returns the crowds of a machine by the limits of control groups: of each group, and of
// all groups together. Of a limit of a core and a half, the half core can run a thread, too.
func byQuota(crews []Crew) (out []Crowd) {
	of, groups := map[uint64][]Crew{}, []uint64{}
	for _, c := range crews {
		if c.Quota == nil {
			continue
		}
		if g := c.Quota.Group; len(of[g]) == 0 {
			groups = append(groups, g)
		}
		of[c.Quota.Group] = append(of[c.Quota.Group], c)
	}
	add := func(crews []Crew, allowed float64) bool {
		c, ok := crowdOf(crews, int(math.Ceil(allowed)))
		if c.Limited = true; ok {
			out = append(out, c)
		}
		return ok
	}
	var all []Crew
	sum := 0.0
	for _, g := range groups {
		if allowed := of[g][0].Quota.CPUs; add(of[g], allowed) {
			all, sum = append(all, of[g]...), sum+allowed
		}
	}
	add(all, sum)
	return out
}

func maskOf(c profile.CPUs) *big.Int {
	set, mask := map[int]bool{}, new(big.Int)
	c.AddTo(set)
	for cpu := range set {
		if cpu >= 0 {
			mask.SetBit(mask, cpu, 1)
		}
	}
	return mask
}

func count(set *big.Int) (n int) {
	for _, w := range set.Bits() {
		n += bits.OnesCount(uint(w))
	}
	return n
}

// CrowdText says that a process, or a job, has more threads than cores, and what to do. It is a
// sentence and a second one without its full stop: callers may go on.
func CrowdText(crowds []Crowd, job bool) string {
	c := &crowds[0]
	threads := c.Threading()
	if !job {
		more := "more cores (see how it is bound)"
		if c.Limited {
			more = "more processor time (cpu.max of its control group)"
		}
		return "The process itself has more threads than cores: " + threads + ". Start fewer threads (OMP_NUM_THREADS), or give it " + more
	}
	text := fmt.Sprintf("The job itself has more threads than cores: on %s, %s with %s", profile.Pasteable(c.Host), plural(c.Processes, "rank"), threads)
	if more := len(crowds) - 1; more > 0 {
		text += fmt.Sprintf(", and the like on %s", plural(more, "other machine"))
	}
	give := "ranks more cores (see how the launcher binds them)"
	if c.Limited {
		give = "the job more processor time (cpu.max of its control groups)"
	}
	return text + ". Start fewer ranks or threads, or give " + give
}

// Threading says how many threads share how many cores: "4 threads on 2 cores".
func (c *Crowd) Threading() string {
	text := fmt.Sprintf("%s on %s", plural(c.Threads, "thread"), plural(c.CPUs, "core"))
	if c.Limited {
		text += " (the limit of a control group)"
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
