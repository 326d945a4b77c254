package job

import (
	"fmt"
	"strings"

	"ompp-attach/job/comms"
	"ompp-attach/mpi/clocks"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// Machine is a machine on which ranks of the job ran.
type Machine struct {
	Hosts []string // the machine's names; containers may have names of their own
	Ranks []int
	Clock clocks.Clock

	key     string
	records []*clocks.Record
}

// machine names the machine on which a rank ran. Ranks with the same clock get the same name.
func (r *rankCalls) machine() string { return profile.ClockName(r.clock, r.comms.Host) }

// machinesOf returns the machines on which ranks ran.
func machinesOf(ranks []*rankCalls) (out []Machine) {
	at := map[string]int{}
	for _, r := range ranks {
		i, ok := at[r.machine()]
		if !ok {
			i = len(out)
			at[r.machine()], out = i, append(out, Machine{key: r.machine()})
		}
		m := &out[i]
		m.Ranks = append(m.Ranks, r.rank)
		if host := r.comms.Host; len(m.Hosts) == 0 || m.Hosts[len(m.Hosts)-1] != host {
			m.Hosts = append(m.Hosts, host)
		}
		if r.clock != nil {
			m.records = append(m.records, r.clock)
		}
		if m.Clock = clocks.Of(m.records); len(m.records) == 0 {
			m.Clock.Shift = r.begin()
		}
	}
	return out
}

// begin returns roughly how far CLOCK_REALTIME was ahead of the clock of the calls (ns); 0: there
// are no calls.
func (r *rankCalls) begin() int64 {
	for i := range r.log.Threads {
		if c, ok := r.log.Reader(i).Next(); ok {
			return r.start - int64(c.Start)
		}
	}
	return 0
}

// run matches the calls of ranks. If the ranks ran on several machines, it first compares the
// machines' clocks by the order of calls. all says that these are all ranks of the job.
func (m *Matching) run(ranks []*rankCalls, groups comms.Groups, all bool) {
	machines := machinesOf(ranks)
	logs := func() (out []*match.RankCalls) { // each log can be read once only
		for _, r := range ranks {
			out = append(out, r.toMatch(groups))
		}
		return out
	}
	if len(machines) < 2 {
		m.Result = *m.matched(ranks, logs(), nil, all)
		return
	}
	number := map[string]int{}
	list := make([]clocks.Clock, len(machines))
	for i := range machines {
		number[machines[i].key], list[i] = i, machines[i].Clock
	}
	shifted := func() []*match.RankCalls {
		out := logs()
		for _, l := range out {
			shift(l, &list[number[l.Host]])
		}
		return out
	}
	orders := clocks.NewOrders(len(machines))
	reader.Orders(shifted(), func(first *match.RankCalls, at uint64, then *match.RankCalls, by uint64) {
		orders.Add(number[first.Host], number[then.Host], at, by)
	})
	m.Machines, m.Clocks = machines, clocks.Align(list, orders)
	m.Result = *m.matched(ranks, shifted(), byMachine{m.Clocks, number}, all)
}

// shift converts the times of a log to a rough clock that all machines have in common.
func shift(l *match.RankCalls, c *clocks.Clock) {
	for i := range l.Threads {
		l.Threads[i] = &shiftedCalls{l.Threads[i], c}
	}
	if l.Until != 0 {
		l.Until = c.Shifted(l.Until)
	}
}

type shiftedCalls struct {
	match.Calls
	clock *clocks.Clock
}

// Next implements match.Calls.
func (s *shiftedCalls) Next() (*match.Call, bool) {
	c, ok := s.Calls.Next()
	if ok {
		c.Start, c.End = s.clock.Shifted(c.Start), s.clock.Shifted(c.End)
	}
	return c, ok
}

// byMachine implements match.Clocks.
type byMachine struct {
	*clocks.Alignment
	number map[string]int
}

func (b byMachine) Comparable(x, y string) bool {
	return b.Alignment.Comparable(b.number[x], b.number[y])
}

func (b byMachine) Convert(to, from string, t uint64) (at uint64, bound int64) {
	return b.Alignment.Convert(b.number[to], b.number[from], t)
}

// mostPairs is how many pairs of machines a sentence names at most.
const mostPairs = 8

// acrossMachines says how the clocks of several machines were compared, and how exact waits for
// ranks of other machines are.
func (m *Matching) acrossMachines() (out []string) {
	if m.Clocks == nil {
		return nil
	}
	out = append(out, fmt.Sprintf("The ranks ran on %d machines: %s.%s", len(m.Machines), m.whereRanksRan(), m.Clocks.Compared()))
	if a := &m.Across; a.Waits+a.Untold > 0 {
		s := fmt.Sprintf("%s waited for ranks of other machines.", counted(a.Waits, "call"))
		if a.Waits > 0 {
			s = fmt.Sprintf("%s waited for ranks of other machines: %.6f sec, ± %s (each ± %s at most).", counted(a.Waits, "call"), seconds(a.T), clocks.BoundText(a.Bound), clocks.BoundText(a.Widest))
		}
		if a.NoLatecomer > 0 {
			s += fmt.Sprintf(" Of %d of these calls it is not known which rank was last.", a.NoLatecomer)
		}
		if a.Untold > 0 {
			s += fmt.Sprintf(" %s may have waited, or not: the comparison of the clocks is not exact enough to tell.", counted(a.Untold, "more call"))
		}
		out = append(out, s)
	}
	told := 0
	for i := range m.Clocks.Links {
		k := &m.Clocks.Links[i]
		s := m.trouble(k)
		if s == "" {
			continue
		}
		if told++; told > mostPairs {
			out = append(out, "The clocks of more machines could not be compared.")
			break
		}
		out = append(out, s)
	}
	for i := range m.Machines {
		if m.Machines[i].Clock.Stepped {
			out = append(out, fmt.Sprintf("The time of day of %s was set while the job ran: it was not used to compare clocks.", m.Machines[i].name()))
		}
	}
	return out
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// mostMachines is how many machines a sentence names at most.
const mostMachines = 8

// whereRanksRan names the machines with their ranks.
func (m *Matching) whereRanksRan() string {
	var all []string
	for i := range m.Machines {
		if i == mostMachines {
			all = append(all, fmt.Sprintf("%d more", len(m.Machines)-i))
			break
		}
		all = append(all, fmt.Sprintf("%s has %s", m.Machines[i].name(), RankList(m.Machines[i].Ranks)))
	}
	return strings.Join(all, ", ")
}

func (m *Machine) name() string { return strings.Join(m.Hosts[:min(3, len(m.Hosts))], ", ") }

// trouble says why two clocks were not compared, or what is strange about them. It returns "" if
// there is nothing to say.
func (m *Matching) trouble(k *clocks.Link) string {
	pair := m.Machines[k.A].name() + " and " + m.Machines[k.B].name()
	switch {
	case k.Conflict > 0 && k.Messages:
		return fmt.Sprintf("The clocks of %s were compared by messages only: these contradict by %s what the kernels say of the clocks.", pair, clocks.BoundText(k.Conflict))
	case k.Conflict > 0 && k.OneWay():
		return fmt.Sprintf("The clocks of %s were not compared: messages went one way only, and contradict by %s what the kernels say of the clocks.", pair, clocks.BoundText(k.Conflict))
	case k.Conflict > 0:
		return fmt.Sprintf("The clocks of %s were not compared: messages contradict each other by %s, so a clock has jumped.", pair, clocks.BoundText(k.Conflict))
	case !k.Messages && !k.Synchronised:
		return fmt.Sprintf("The clocks of %s were not compared directly: messages went one way only, and the kernels do not call the clocks synchronised.", pair)
	case k.Unsteady:
		return fmt.Sprintf("The clocks of %s changed their rates while the job ran: so bounds are wider.", pair)
	}
	return ""
}

// nodes returns the comparison of clocks for package severity.
func (m *Matching) nodes() *severity.Nodes {
	if m.Clocks == nil {
		return nil
	}
	out := &severity.Nodes{Links: m.Clocks.Links, Across: m.Across}
	for _, x := range m.Machines {
		out.Machines = append(out.Machines, severity.Machine{Hosts: x.Hosts, Ranks: x.Ranks, Stepped: x.Clock.Stepped, Shift: x.Clock.Shift})
	}
	return out
}
