package probes

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// Placement is one probe, ready to attach.
type Placement struct {
	Symbol string    // entry point, or the name of a place in brackets
	VAddr  uint64    // probed instruction
	Offset uint64    // offset of that instruction in the file
	Cost   insn.Cost // what the kernel does to execute that instruction
	Return bool

	point   *point
	row     bpf.Row
	onAMD64 bool
}

// Plan says how one runtime library is probed.
type Plan struct {
	Runtime    event.Runtime
	Object     *symbols.Object
	Placements []Placement
	Missing    []string // entry points without a probe, each with the reason
	NoTasks    error    // why tasks cannot be measured; nil if they are

	code insn.Code // the object's code, while the plan is made
}

// Probed returns the virtual addresses of the probed instructions. Some have several probes.
func (p *Plan) Probed() (vaddrs []uint64) {
	for i := range p.Placements {
		vaddrs = append(vaddrs, p.Placements[i].VAddr)
	}
	return vaddrs
}

// table holds a runtime's points, and one matcher for all of their names.
type table struct {
	points []point
	match  *regexp.Regexp
}

func compile(points []point) func() *table {
	return sync.OnceValue(func() *table {
		var alternatives []string
		for _, p := range points {
			alternatives = append(alternatives, "("+strings.ReplaceAll(p.symbols, "(", "(?:")+")")
		}
		return &table{points, regexp.MustCompile("^(?:" + strings.Join(alternatives, "|") + ")$")}
	})
}

var (
	gompTable = compile(slices.Concat(gompPoints, gompNewer))
	kmpcTable = compile(slices.Concat(kmpcPoints, kmpcNewer))
	tgtTable  = compile(tgtPoints)
)

func (t *table) find(symbol string) *point {
	m := t.match.FindStringSubmatchIndex(symbol)
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			return &t.points[i/2-1]
		}
	}
	return nil
}

// identified keeps the results of Identify, by object.
var identified sync.Map

// Identify returns the runtime that an object contains, or NoRuntime.
func Identify(o *symbols.Object) event.Runtime {
	once, ok := identified.Load(o)
	if !ok {
		once, _ = identified.LoadOrStore(o, sync.OnceValue(func() event.Runtime { return identify(o) }))
	}
	return once.(func() event.Runtime)()
}

func identify(o *symbols.Object) event.Runtime {
	has := o.Defines("__kmpc_fork_call", "__kmp_invoke_microtask", "__tgt_target_kernel", "__tgt_target_mapper",
		"GOMP_parallel", "omp_get_thread_num")
	switch {
	case has[0] && has[1]:
		return event.Kmpc
	case has[2] || has[3]:
		return event.Tgt
	case has[4] && has[5]: // these come in one object file of libgomp.a
		return event.Gomp
	}
	return event.NoRuntime
}

// NewPlan finds the cheapest safe place for every probe in a runtime library. imported reports
// whether the program's modules import a symbol.
func NewPlan(o *symbols.Object, imported func(string) bool) (*Plan, error) {
	p := &Plan{Runtime: Identify(o), Object: o, code: codeOf(o)}
	defer func() {
		p.code = nil
		decodings.Delete(o)
	}()
	lo, hi := ownText(o)
	switch p.Runtime {
	case event.Gomp:
		p.tasks(gompTable(), lo, hi)
		p.entries(gompTable(), lo, hi, imported, p.sectionsNext(lo, hi))
		if err := p.gompTeams(lo, hi); err != nil {
			return nil, err
		}
		p.gompNewer(lo, hi)
	case event.Kmpc:
		p.tasks(kmpcTable(), lo, hi)
		done := p.loopsOver(lo, hi)
		critical, hands := forwards(o, kmpcCritical, kmpcCriticalWithHint, 3)
		if hands {
			done[critical.entry] = true
		}
		p.entries(kmpcTable(), lo, hi, imported, done)
		if hands {
			p.comesFrom(kmpcCriticalWithHint, critical)
		}
		p.kmpcSize()
		if err := p.kmpcTeams(lo, hi); err != nil {
			return nil, err
		}
		p.enclosing(kmpcEnclosing, lo, hi)
	case event.Tgt:
		p.entries(tgtTable(), lo, hi, imported, nil)
		p.enclosing(tgtEnclosing, lo, hi)
	default:
		return nil, fmt.Errorf("no OpenMP runtime that this version knows")
	}
	slices.SortFunc(p.Placements, func(a, b Placement) int { return cmp.Compare(a.VAddr, b.VAddr) })
	return p, nil
}

// ownText returns the address range of the runtime's own code. A call from there is made by the
// runtime, not by the program. In a static executable this is the range of the runtime's functions,
// which the linker takes from the archive in one go.
func ownText(o *symbols.Object) (lo, hi uint64) {
	if !o.IsExecutable() {
		for _, r := range o.TextRanges() {
			if hi == 0 || r.Lo < lo {
				lo = r.Lo
			}
			hi = max(hi, r.Hi)
		}
		return lo, hi
	}
	// The runtime's internal functions may lie anywhere, cold ones even before the program's own
	// code. But the entry points lie together.
	prefix := "GOMP_"
	if Identify(o) == event.Kmpc {
		prefix = "__kmp"
	}
	o.Symbols(func(name string, vaddr, size uint64) {
		if strings.HasPrefix(name, prefix) && !strings.Contains(name, ".") {
			if hi == 0 || vaddr < lo {
				lo = vaddr
			}
			hi = max(hi, vaddr+size)
		}
	})
	return lo, hi
}

// entries places the table's probes. An address gets one probe only. libgomp's names are often
// aliases: GOMP_loop_dynamic_start is also GOMP_loop_nonmonotonic_dynamic_start. And one name may
// have two addresses (symbol versions). Addresses in done get no probe.
func (p *Plan) entries(t *table, lo, hi uint64, imported func(string) bool, done map[uint64]bool) {
	placed := map[uint64]bool{}
	maps.Copy(placed, done)
	p.Object.Symbols(func(name string, vaddr, _ uint64) {
		pt := t.find(name)
		if pt == nil || placed[vaddr] || pt.imported && !imported(name) || pt.construct.IsTasking() && p.NoTasks != nil {
			return
		}
		placed[vaddr] = true
		sp, err := insn.SafePoint(p.code, vaddr, insn.Need{Args: pt.args()})
		if err != nil {
			p.Missing = append(p.Missing, fmt.Sprintf("%s: %v", name, err))
			return
		}
		row := newRow(pt, sp.VAddr, lo, hi)
		if pt.fast && sp.AfterCAS {
			switch pt.entry {
			case event.Enter:
				row.Flags |= bpf.RowFreeIfZF
			case event.Release:
				row.Flags |= bpf.RowFreeIfNotSF
			}
		}
		p.add(name, pt, sp.VAddr, sp.Cost, row)
	})
	// A compiler may make the barrier that ends a region's body a jump.
	p.Object.Symbols(func(name string, vaddr, size uint64) {
		if name != "__kmp_invoke_microtask" {
			return
		}
		for i := range p.Placements {
			pl := &p.Placements[i]
			pl.row.BodyLo, pl.row.BodySize = vaddr-pl.VAddr, size
		}
	})
}

func newRow(pt *point, vaddr, lo, hi uint64) bpf.Row {
	r := bpf.Row{Flags: pt.flags | pt.foldFlags() | pt.keepFlags(), TextLo: lo - vaddr, TextHi: hi - vaddr}
	if pt.entry != event.NoEdge {
		r.Flags |= bpf.RowEntry
	}
	if pt.ret != event.NoEdge && pt.flags&bpf.RowReturnIfZero == 0 {
		r.Flags |= bpf.RowReturn
	}
	switch pt.entry {
	// the construct's start has reported the place
	case event.Release, event.Close, event.Begin, event.End:
		if pt.flags&bpf.RowOutsideOnly == 0 {
			r.Flags |= bpf.RowNoSite
		}
	}
	source := func(t take) uint8 {
		if t.to == toNothing || t.to == toKey && pt.flags&bpf.RowTeamFromTLS != 0 ||
			t.to == toValue && pt.flags&(bpf.RowTrip32|bpf.RowTrip64) != 0 || t.to == toFn && pt.flags&bpf.RowBFromA != 0 {
			return 0
		}
		return bpf.Arg(t.arg)
	}
	r.A, r.B = source(pt.a), source(pt.b)
	if pt.num > 0 {
		r.Num = bpf.Arg(pt.num - 1)
	}
	if pt == &pointTeamStart {
		r.Size = bpf.Arg(2)
	}
	return r
}

func (p *Plan) add(symbol string, pt *point, vaddr uint64, cost insn.Cost, row bpf.Row) {
	off, ok := p.Object.FileOffset(vaddr)
	if !ok {
		p.Missing = append(p.Missing, fmt.Sprintf("%s: its address %#x is not in the file", symbol, vaddr))
		return
	}
	p.Placements = append(p.Placements, Placement{Symbol: symbol, VAddr: vaddr, Offset: off, Cost: cost,
		Return: pt.ret != event.NoEdge, point: pt, row: row, onAMD64: p.Object.Arch() == "amd64"})
}

// Keep removes the probes of constructs that are not wanted.
func (p *Plan) Keep(wanted func(event.Construct) bool) {
	p.Placements = slices.DeleteFunc(p.Placements, func(pl Placement) bool { return !wanted(pl.point.construct) })
}

// gompTeams places the probes inside libgomp that see teams.
func (p *Plan) gompTeams(lo, hi uint64) error {
	in, err := locateGomp(p.code)
	if err != nil {
		return fmt.Errorf("find libgomp's team functions: %w", err)
	}
	tls := func(r bpf.Row, vaddr uint64) bpf.Row {
		base := int32(0)
		if in.TLS.Slot != 0 {
			r.TlsSlot = int64(in.TLS.Slot - vaddr)
		} else {
			base = int32(in.TLS.Offset)
		}
		r.TlsTeam, r.TlsTeamId, r.TlsLevel = base+int32(in.TLS.Team), base+int32(in.TLS.TeamID), base+int32(in.TLS.Level)
		return r
	}
	for _, f := range []struct {
		name  string
		entry uint64
		pt    *point
	}{{"[gomp_team_start]", in.TeamStart, &pointTeamStart}, {"[gomp_team_end]", in.TeamEnd, &pointTeamEnd}} {
		sp, err := insn.SafePoint(p.code, f.entry, insn.Need{Args: f.pt.args() | insn.Args(2)})
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		p.add(f.name, f.pt, sp.VAddr, sp.Cost, tls(newRow(f.pt, sp.VAddr, lo, hi), sp.VAddr))
	}
	for _, b := range in.WorkerBegin {
		r := tls(newRow(&pointWorkerBegin, b.VAddr, lo, hi), b.VAddr)
		switch b.Cond {
		case insn.ZeroSet:
			r.Flags |= bpf.RowOnlyIfZF
		case insn.ZeroClear:
			r.Flags |= bpf.RowOnlyIfNotZF
		}
		p.add("[gomp_thread_start: begin]", &pointWorkerBegin, b.VAddr, b.Cost, r)
	}
	for _, vaddr := range in.WorkerEnd {
		p.add("[gomp_thread_start: end]", &pointWorkerEnd, vaddr, insn.CallCost, newRow(&pointWorkerEnd, vaddr, lo, hi))
	}
	return nil
}

// kmpcTeams places the probes in libomp at which regions end.
func (p *Plan) kmpcTeams(lo, hi uint64) error {
	x, err := locateKmpcExits(p.Object)
	if err != nil {
		return fmt.Errorf("find where libomp's regions end: %w", err)
	}
	for _, i := range x.BodyEnd {
		p.add("[after __kmp_invoke_microtask]", &pointBodyEnd, i.Addr, insn.CostOf(i), newRow(&pointBodyEnd, i.Addr, lo, hi))
	}
	for _, a := range x.Join {
		p.add("[return of __kmpc_fork_call]", &pointJoin, a.Inst.Addr, insn.CostOf(a.Inst), exitRow(&pointJoin, a, lo, hi))
	}
	return nil
}

// kmpcSize makes the probe read the team's size where a thread enters the body.
func (p *Plan) kmpcSize() {
	in, err := locateKmpc(p.code)
	for i := range p.Placements {
		pl := &p.Placements[i]
		if pl.row.Flags&bpf.RowSizeFromKmp == 0 {
			continue
		}
		if err != nil { // the engine works without the size
			pl.row.Flags &^= bpf.RowSizeFromKmp
			continue
		}
		pl.row.KmpThreads = int64(in.Threads - pl.VAddr)
		pl.row.KmpTeam, pl.row.KmpNproc = in.Team, in.NProc
	}
}
