package costs

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/mpi"
	"ompp-attach/system"
)

// add adds to a list what is not in it.
func add[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// openmp has constructs down, threads across.
func (t *text) openmp() {
	if len(t.p.OpenMP) == 0 {
		return
	}
	t.section("OpenMP: cost of one execution, us")
	var names []string
	var threads []int
	cells := map[string]string{}
	shared := false
	for _, o := range t.p.OpenMP {
		name := strings.TrimSpace(o.Construct.String() + "  " + o.Variant)
		if o.Shared {
			name += " (1)"
			shared = true
		}
		names, threads = add(names, name), add(threads, o.Threads)
		cells[fmt.Sprint(name, o.Threads)] = t.us(o.Cost, o.Oversubscribed)
	}
	slices.Sort(threads)
	head := []string{"threads"}
	for _, n := range threads {
		head = append(head, fmt.Sprintf("%d  ", n))
	}
	rows := [][]string{head}
	for _, name := range names {
		row := []string{name}
		for _, n := range threads {
			row = append(row, cells[fmt.Sprint(name, n)])
		}
		rows = append(rows, row)
	}
	t.table(1, rows)
	if shared {
		t.printf("(1) all threads execute it, one after the other: from one execution of the team to the next\n")
	}
}

// messages has a table for each distance, with bytes down.
func (t *text) messages() {
	var distances []system.Where
	for _, m := range t.p.MPI {
		if m.Operation.Info().Kind == mpi.PointToPoint {
			distances = add(distances, m.Where)
		}
	}
	for _, where := range distances {
		t.section("MPI: messages between two processes, " + place(where))
		at := map[string]map[uint64]system.MPI{}
		var sizes []uint64
		most := 0.0
		for _, m := range t.p.MPI {
			if m.Where != where || m.Operation.Info().Kind != mpi.PointToPoint {
				continue
			}
			name := m.Operation.String()
			if at[name] == nil {
				at[name] = map[uint64]system.MPI{}
			}
			at[name][m.Bytes] = m
			sizes = add(sizes, m.Bytes)
			if name == "MPI_Isend" {
				most = max(most, bandwidth(m))
			}
		}
		slices.Sort(sizes)
		rows := [][]string{{"bytes", "half round trip, us", "exchange, us", "stream, MB/s", ""}}
		for _, b := range sizes {
			row := []string{fmt.Sprint(b)}
			for _, name := range []string{"MPI_Send", "MPI_Sendrecv"} {
				cell := ""
				if m, ok := at[name][b]; ok {
					cell = t.us(m.Cost, m.Oversubscribed)
				}
				row = append(row, cell)
			}
			if m, ok := at["MPI_Isend"][b]; ok {
				rate := bandwidth(m)
				relative := m.Cost.Error / m.Cost.Median
				row = append(row, t.marked(digits(rate), digits(rate*relative), m.Cost, m.Oversubscribed), bar(rate, most))
			}
			rows = append(rows, row)
		}
		t.table(0, rows)
		for _, e := range t.p.Eager {
			switch {
			case e.Where == where && e.Waits > 0:
				t.printf("MPI_Send waits for its receiver from %d bytes on (up to %d it does not).\n", e.Waits, e.Bytes)
			case e.Where == where:
				t.printf("MPI_Send did not wait for its receiver with up to %d bytes.\n", e.Bytes)
			}
		}
	}
}

// bandwidth is in MB/s: bytes per us.
func bandwidth(m system.MPI) float64 { return float64(m.Bytes) / m.Cost.Median * 1e3 }

func place(w system.Where) string {
	return map[system.Where]string{
		system.Core: "on one core", system.Complex: "with one last-level cache", system.Socket: "on one socket",
		system.Node: "on one node", system.Nodes: "on several nodes",
	}[w]
}

// collectives has a table for each number of processes: bytes down, operations across.
func (t *text) collectives() {
	type group struct {
		processes int
		where     system.Where
	}
	var groups []group
	for _, m := range t.p.MPI {
		if m.Operation.Info().Kind != mpi.PointToPoint {
			groups = add(groups, group{m.Processes, m.Where})
		}
	}
	for _, g := range groups {
		var ops []mpi.Op
		var sizes []uint64
		cells := map[string]string{}
		for _, m := range t.p.MPI {
			if m.Operation.Info().Kind == mpi.PointToPoint || m.Processes != g.processes || m.Where != g.where {
				continue
			}
			cell := t.us(m.Cost, m.Oversubscribed)
			if m.Operation.String() == "MPI_Barrier" {
				cells["barrier"] = strings.TrimSpace(cell)
				continue
			}
			ops, sizes = add(ops, m.Operation), add(sizes, m.Bytes)
			cells[fmt.Sprint(m.Operation, m.Bytes)] = cell
		}
		t.section(fmt.Sprintf("MPI: collective operations of %d processes, %s, us", g.processes, place(g.where)))
		slices.Sort(sizes)
		if b := cells["barrier"]; b != "" {
			t.printf("MPI_Barrier %s\n", b)
		}
		const across = 4 // operations, so that a table fits a terminal
		for part := range slices.Chunk(ops, across) {
			head := []string{"bytes"}
			for _, op := range part {
				head = append(head, op.String()+"  ")
			}
			rows := [][]string{head}
			for _, b := range sizes {
				row := []string{fmt.Sprint(b)}
				for _, op := range part {
					row = append(row, cells[fmt.Sprint(op, b)])
				}
				rows = append(rows, row)
			}
			t.table(0, rows)
		}
	}
}

func (t *text) hybrid() {
	if len(t.p.Hybrid) == 0 {
		return
	}
	t.section("Hybrid: messages between two processes with several threads, us")
	rows := [][]string{{"threads", "of these communicate", "bytes", "half round trip of all  "}}
	for _, h := range t.p.Hybrid {
		rows = append(rows, []string{fmt.Sprint(h.Threads), fmt.Sprint(h.Communicating), fmt.Sprint(h.Bytes), t.us(h.Cost, h.Oversubscribed)})
	}
	t.table(0, rows)
	t.printf("The other threads compute meanwhile.\n")
}

func (t *text) rates() {
	if len(t.p.Compute) == 0 {
		return
	}
	t.section("Rates, as the compiler and its options make them")
	rows := [][]string{{"kernel", "threads", "all threads together  ", ""}}
	most := map[string]float64{}
	for _, r := range t.p.Compute {
		most[r.Kernel] = max(most[r.Kernel], r.Rate.Median)
	}
	for _, r := range t.p.Compute {
		cell := t.marked(digits(r.Rate.Median/1e9), digits(r.Rate.Error/1e9), r.Rate, r.Oversubscribed)
		rows = append(rows, []string{kernel(r), fmt.Sprint(r.Threads), cell, bar(r.Rate.Median, most[r.Kernel])})
	}
	t.table(1, rows)
}

func kernel(r system.Rate) string {
	return r.Kernel + ", G" + r.Unit
}

func (t *text) probe() {
	p := t.p.Probe
	if p == nil {
		return
	}
	t.section("Our probes: what a hit takes of its thread's time, us")
	emulated := "on an instruction that the kernel emulates"
	var rows [][]string
	if p.Jump > 0 {
		rows = append(rows, []string{"on a jump", micros(p.Jump)})
	}
	if t.p.Machine.Architecture == "x86_64" {
		emulated = "on a push"
	}
	rows = append(rows, [][]string{
		{emulated, micros(p.Emulated)}, {"on a call", micros(p.Call)},
		{"on an instruction that has to be stepped over", micros(p.SingleStep)}, {"a function's return, in addition", micros(p.Return)},
		{"of a construct that is folded", micros(p.Folded)},
	}...)
	if p.Nop5 > 0 {
		rows = append(rows, []string{"on a nop of five bytes", micros(p.Nop5)})
	}
	t.table(1, rows)
}
