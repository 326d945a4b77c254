package calibration

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"ompp-attach/bpf"
)

const (
	rounds    = 9
	fewRounds = 3
	enough    = 50 * time.Millisecond
	tries     = 3 // at most, while figures contradict each other
)

// A turn is as many calls as fit into a time. On some virtual machines a hit takes ten times as
// long as elsewhere. Fewer such hits tell their cost as exactly: other load disturbs each turn for
// about the same time.
const (
	turnTime   = 300_000.0 // ns
	leastCalls = 30
	mostCalls  = 300
	// Calls before a turn. The thread has waited for the turn's command. On some machines its first
	// calls take several times as long as later ones.
	firstCalls = 5
)

// callsIn returns how many calls make up a turn of some ns, if one call takes each ns.
func callsIn(ns, each float64, least, most int) int {
	if each*float64(most) <= ns { // also if a call seems to take no time
		return most
	}
	return max(least, int(ns/each))
}

// use is a function of the program, and how it is probed.
type use struct {
	on      instruction
	row     bpf.Row
	returns bool
	none    bool     // no probe: the turn measures the call alone
	end     *bpf.Row // the row of a pair's second probe
	calls   int      // of the next turn
}

// run is the state of a calibration.
type run struct {
	program program
	target  *target
	uses    []use
	rows    []uint32
	ring    *bpf.Apart

	ns     [][]float64 // ns for one call, by use and round
	before [][]float64 // ns from the program's time stamp to the record's, by use
	inside []float64   // ns from the entry's time stamp to the return's
	look   []float64   // ns that reading the clock takes
	folded uint64      // number of hits that were folded
	toFold uint64      // number of hits that were to be folded, in the turns that count
}

// MeasureAlone is Measure where no process is measured: it loads the programs and removes them.
func MeasureAlone() (*Costs, error) {
	k, err := bpf.LoadProbes(bpf.Session)
	if err != nil {
		return nil, fmt.Errorf("measure what probes cost: %w", err)
	}
	defer k.Close()
	return Measure(k)
}

// errContradicted: a hit, a part of a hit, or a return seems to take no time.
var errContradicted = errors.New("the figures contradict each other: the machine is too busy, or its clock too coarse")

// Measure measures what hits cost, with the loaded programs k, in some 50 ms, or up to three
// times that on a busy machine. It stores rows of its own and has a ring of its own, so processes
// may be measured meanwhile. The error says why the costs are not known.
func Measure(k *bpf.Probes) (*Costs, error) {
	c, err := measure(k)
	if err != nil {
		return nil, fmt.Errorf("measure what probes cost: %w", err)
	}
	return c, nil
}

func measure(k *bpf.Probes) (*Costs, error) {
	m, ok := programs[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("not possible on %s", runtime.GOARCH)
	}
	r := &run{program: m, uses: usesOf(&m)}
	var kinds []instruction
	for _, u := range r.uses {
		kinds = append(kinds, u.on)
	}
	image, err := m.image(kinds)
	if err != nil {
		return nil, err
	}
	if r.target, err = startTarget(image); err != nil {
		return nil, err
	}
	if r.ring, err = k.SetApart(r.target.pid()); err != nil {
		r.target.close()
		return nil, err
	}
	var link io.Closer
	defer func() {
		r.target.close() // first the program, so that no record goes to another ring
		r.ring.Close()
		if link != nil {
			go link.Close() // close waits for RCU grace periods; no hits come any more
		}
	}()
	if link, err = r.attach(k); err != nil {
		return nil, err
	}
	c, err := costsOfTurns(r.takeTurns, func() (*Costs, error) { return r.costs(k.Mode()) })
	if err != nil {
		return nil, err
	}
	if c.Crowd, err = r.takeCrowd(); err != nil {
		return nil, err
	}
	return c, nil
}

// costsOfTurns takes turns and computes costs from them, again if their figures contradict each
// other. Costs of which only a part is contradicted serve if no try is better.
func costsOfTurns(turns func() error, costs func() (*Costs, error)) (*Costs, error) {
	var usable *Costs
	var contradicted error
	for range tries {
		if err := turns(); err != nil {
			return nil, err
		}
		c, err := costs()
		if !errors.Is(err, errContradicted) {
			return c, err
		}
		contradicted = err
		if c != nil {
			usable = c
		}
	}
	if usable != nil {
		return usable, nil
	}
	return nil, contradicted
}

// The indices in run.uses in front of those of single instructions.
const (
	bare = iota
	ignored
	reads
	returns
	folds
	foldReturns
	instructions
)

func usesOf(m *program) []use {
	record := bpf.Row{Flags: bpf.RowEntry | bpf.RowNoSite}
	uses := []use{
		bare: {on: emulated, none: true},

		// of all hits
		ignored: {on: emulated, row: bpf.Row{Flags: record.Flags | bpf.RowOnlyIfZF | bpf.RowOnlyIfNotZF}},
		// Reads the second word behind the second argument, an address that the driver's last
		// system call has left there.
		reads:   {on: emulated, row: bpf.Row{Flags: record.Flags | bpf.RowBFromA, A: bpf.Arg(1)}},
		returns: {on: emulated, row: bpf.Row{Flags: record.Flags | bpf.RowReturn}, returns: true},

		// A construct that ends by a second call, and one that is a single call.
		folds: {on: pair, row: bpf.Row{Flags: bpf.RowEntry | bpf.RowFoldBegin | bpf.FoldGroup(1)},
			end: &bpf.Row{Flags: record.Flags | bpf.RowFoldEnd | bpf.FoldGroup(1)}},
		foldReturns: {on: emulated, row: bpf.Row{Flags: bpf.RowEntry | bpf.RowReturn |
			bpf.RowFoldBegin | bpf.RowFoldEnd | bpf.FoldGroup(2)}, returns: true},
	}
	for k := nop5; k <= singleStep; k++ {
		if _, ok := m.bodies[k]; ok {
			uses = append(uses, use{on: k, row: record})
		}
	}
	return uses
}

func (r *run) attach(k *bpf.Probes) (io.Closer, error) {
	var points []bpf.Point
	for i, u := range r.uses {
		if u.none {
			r.rows = append(r.rows, 0)
			continue
		}
		row, err := k.AddRow(u.row)
		if err != nil {
			return nil, err
		}
		r.rows = append(r.rows, row)
		points = append(points, bpf.Point{Offset: r.program.probeOffset(i, u.on), Row: row, Return: u.returns})
		if u.end == nil {
			continue
		}
		if row, err = k.AddRow(*u.end); err != nil {
			return nil, err
		}
		second := r.program.bodies[u.on].second - r.program.bodies[u.on].probe
		points = append(points, bpf.Point{Offset: r.program.probeOffset(i, u.on) + second, Row: row})
	}
	return k.Attach(r.target.path(), r.target.pid(), points)
}

// takeTurns measures all uses in turn, several times, so that other load on the machine affects all
// of them alike. The first round only fills the caches.
func (r *run) takeTurns() error {
	r.ns, r.before = make([][]float64, len(r.uses)), make([][]float64, len(r.uses))
	r.inside, r.look, r.folded, r.toFold = nil, nil, 0, 0
	for i := range r.uses {
		r.uses[i].calls = leastCalls
	}
	begin := time.Now()
	for round := range rounds + 1 {
		if round > fewRounds && time.Since(begin) > enough {
			break // others may need the processors
		}
		for i := range r.uses {
			if err := r.turn(i, round > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn measures one use: first what its calls take, then when its hits look at the clock. The
// program gets all commands at once, so that it need not wait between them.
func (r *run) turn(i int, counts bool) error {
	u, f := &r.uses[i], r.program.address(i)
	n, stamped := u.calls, 0
	commands := []command{{f, firstCalls, 0}, {f, n, 0}}
	if i == bare || i >= instructions {
		stamped = min(numStamps, n)
		commands = append(commands, command{r.program.stampAddress(), stamped, f})
	}
	answers, err := r.target.obey(commands...)
	if err != nil {
		return err
	}
	entries, rets, err := r.reported(i)
	if err != nil {
		return err
	}
	all := firstCalls + n
	if (i >= instructions || i == reads || i == returns) && (len(entries) != all+stamped || u.returns && len(rets) != all) {
		return fmt.Errorf("of %d hits on a %s, %d were reported, and %d returns", all+stamped, u.on, len(entries), len(rets))
	}
	each := float64(answers[1].cpu) / float64(n)
	u.calls = callsIn(turnTime, each, leastCalls, mostCalls)
	if !counts {
		return nil
	}
	r.ns[i] = append(r.ns[i], each)
	switch i {
	case folds, foldReturns:
		r.toFold += uint64(2 * all)
	case returns:
		for j := range rets {
			r.inside = append(r.inside, rets[j]-entries[j])
		}
	}
	if stamped == 0 {
		return nil
	}
	stamps := answers[2].stamps
	for j := all; j < len(entries); j++ {
		r.before[i] = append(r.before[i], entries[j]-float64(stamps[j-all]))
	}
	for j := 1; i == bare && j < len(stamps); j++ {
		r.look = append(r.look, float64(stamps[j]-stamps[j-1]))
	}
	return nil
}

// reported reads the time stamps, in ns, of the records of the i-th use, from entries and from
// returns.
func (r *run) reported(i int) (entries, rets []float64, err error) {
	const all = 1 << 16
	pid := uint32(r.target.pid())
	_, err = r.ring.Drain(all, &bpf.Uses{Record: func(rec *bpf.Record, _ []uint64) {
		switch {
		case rec.Pid != pid || uint32(rec.Row) != r.rows[i]: // of an earlier calibration
		case rec.Flags&bpf.RecReturn != 0:
			rets = append(rets, float64(rec.Time))
		default:
			entries = append(entries, float64(rec.Time))
		}
	}, Fold: func(rec *bpf.FoldRecord, _ *bpf.FoldCounters) {
		if rec.Pid == pid {
			r.folded += rec.Hits
		}
	}})
	return entries, rets, err
}

// costs computes from the turns what hits cost. If a return seems to take no time, the costs come
// with errContradicted: on a busy machine the other figures may be right.
func (r *run) costs(mode bpf.Mode) (*Costs, error) {
	// Differences are taken round by round: load that disturbs one turn mostly disturbs its
	// neighbours, too.
	above := func(i, j int) float64 {
		var d []float64
		for round := range r.ns[i] {
			d = append(d, r.ns[i][round]-r.ns[j][round])
		}
		return median(d)
	}
	look := median(r.look)
	c := &Costs{Mode: mode.String()}
	for i := instructions; i < len(r.uses); i++ {
		total := above(i, bare)
		// The program reads the clock in the middle of its call.
		before := median(r.before[i]) - look/2
		if total <= 0 || before <= 0 || before >= total {
			return nil, errContradicted
		}
		*c.of(r.uses[i].on) = Split{before, total - before}
	}
	one := slices.IndexFunc(r.uses[instructions:], func(u use) bool { return u.on == emulated }) + instructions
	c.Ignored = above(ignored, bare)
	c.Read = max(0, above(reads, one))
	seen := above(returns, one)
	total := max(0, seen)
	before := min(max(0, median(r.inside)-c.Emulated.After), total)
	c.Return = Split{before, total - before}
	// A folded sum is written with the next record. Nothing is folded where counters take turns.
	// Hits that a switch of threads leaves uncounted are not folded either.
	const most = 0.9
	switch {
	case float64(r.folded) >= most*float64(r.toFold):
		c.Folded = Split{c.Emulated.Before, max(0, above(folds, bare)/2-c.Emulated.Before)}
		total := max(0, above(foldReturns, bare)-c.Folded.Sum())
		before := min(c.Return.Before, total)
		c.FoldedReturn = Split{before, total - before}
	case r.folded > 0:
		return nil, fmt.Errorf("of %d hits that were to be added up, %d were", r.toFold, r.folded)
	}
	if seen <= 0 { // a return writes a record
		return c, errContradicted
	}
	return c, nil
}

func (c *Costs) of(k instruction) *Split {
	switch k {
	case nop5:
		return &c.Nop5
	case jump:
		return &c.Jump
	case call:
		return &c.Call
	case singleStep:
		return &c.SingleStep
	}
	return &c.Emulated
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
