package hierarchy

import (
	"fmt"

	"ompp-attach/hiera"
	"ompp-attach/report/words"
)

// build makes a table of the statistics; nil if there is nothing to tell.
type build func(*hiera.Statistics, Options) *table

// all lists the tables in their order. To add one, write its function and add a row.
var all = []struct {
	key   string
	build build
}{
	{"levels", levels},
	{"times", times},
	{"exclusive", exclusive},
	{"by_operation", operations},
	{"by_place", places},
	{"partners", partners},
	{"related", related},
	{"histograms", histograms},
	{"cost", cost},
}

// levels is the paper's Tables 1 and 6.
func levels(s *hiera.Statistics, _ Options) *table {
	t := &table{title: "Operations of each process, by level", columns: []column{{"process", "process", number}}}
	depth := s.Depth()
	for level := range depth {
		t.columns = append(t.columns, column{fmt.Sprintf("level_%d", level), fmt.Sprintf("level %d", level), number})
	}
	t.columns = append(t.columns, column{"sum", "sum", number})
	for _, p := range s.Processes {
		row := []any{int64(p.Rank)}
		for level := range depth {
			n := uint64(0)
			if level < len(p.Levels) {
				n = p.Levels[level]
			}
			row = append(row, n)
		}
		t.add(append(row, p.Operations())...)
	}
	return t
}

// times is the paper's Table 4.
func times(s *hiera.Statistics, _ Options) *table {
	t := &table{title: "Communication of each process, seconds", columns: []column{{"process", "process", number}, {"communication", "communication", time},
		{"total", "total", time}, {"computation", "computation", time}, {"share", "comm. %", percent}, {"threads", "threads", number}, {"communicating", "in MPI", number}}}
	several := false
	for _, p := range s.Processes {
		of := p.Shared()
		var share any
		if of > 0 {
			share = float64(p.Communication) / float64(of)
		}
		t.add(int64(p.Rank), p.Communication, p.Total(), of-p.Communication, share, int64(max(1, p.Threads)), int64(p.Communicating))
		several = several || p.Communicating > 1
	}
	if several {
		t.notes = append(t.notes, "in MPI: how many of the threads called MPI. Where several did, communication and computation are their sums.")
	}
	return t
}

// exclusive is the time of each category, outside of inner operations.
func exclusive(s *hiera.Statistics, _ Options) *table {
	categories := s.Categories()
	if len(categories) == 0 {
		return nil
	}
	t := &table{title: "Exclusive time of each library, seconds", columns: []column{{"process", "process", number}}}
	for _, c := range categories {
		t.columns = append(t.columns, column{c, c, time})
	}
	overlaps := uint64(0)
	for _, p := range s.Processes {
		row := []any{int64(p.Rank)}
		for _, c := range categories {
			row = append(row, p.Exclusive[c])
		}
		t.add(row...)
		overlaps += p.Overlaps
	}
	t.notes = append(t.notes, "These are sums over threads, of the time that operations took outside of operations inside them.")
	if overlaps > 0 {
		t.notes = append(t.notes, fmt.Sprintf("The inner operations of %s take longer: the exclusive time there counts as 0.", words.Plural(int(overlaps), "operation")))
	}
	return t
}

// figureColumns are the columns that figures returns cells of.
var figureColumns = []column{{"count", "count", number}, {"time", "time s", time}, {"exclusive", "excl. s", time}, {"mean", "mean us", single},
	{"deviation", "dev. us", single}, {"min", "min us", single}, {"max", "max us", single}, {"bytes", "bytes", number}}

func figures(f *hiera.Figures) []any {
	cells := []any{f.Count, f.Time, f.Exclusive, f.Mean(), nil, nil, nil, nil}
	if d, ok := f.Deviation(); ok {
		cells[4], cells[5], cells[6] = d, f.Min, f.Max
	}
	if f.Sized > 0 {
		cells[7] = f.Bytes
	}
	return cells
}

// operations is the paper's Tables 3 and 8.
func operations(s *hiera.Statistics, _ Options) *table {
	t := &table{title: "Operations of all processes", columns: append([]column{{"category", "category", text}, {"operation", "operation", text}}, figureColumns...)}
	for _, r := range s.ByOperation() {
		t.add(append([]any{r.Category, r.Name}, figures(r.Figures)...)...)
	}
	return t
}

// places is the paper's Tables 2 and 7.
func places(s *hiera.Statistics, o Options) *table {
	t := &table{title: "Operations by call site", few: 60, columns: append([]column{{"process", "process", text}, {"category", "category", text},
		{"operation", "operation", text}, {"file", "file", text}, {"line", "line", number}}, figureColumns...)}
	add := func(process any, rows []hiera.Row) {
		for _, r := range rows {
			t.add(append([]any{process, r.Category, r.Name, r.File, int64(r.Line)}, figures(r.Figures)...)...)
		}
	}
	if o.Rank < 0 {
		t.title += ", of all processes"
		add("all", s.ByPlace())
		return t
	}
	t.title += fmt.Sprintf(", of process %d", o.Rank)
	for _, p := range s.Processes {
		if p.Rank == o.Rank {
			add(int64(p.Rank), hiera.Rows(p.Places))
		}
	}
	return t
}

// placesOfEach has the call sites of each process.
func placesOfEach(s *hiera.Statistics, o Options) *table {
	var t *table
	for _, p := range s.Processes {
		o.Rank = p.Rank
		one := places(s, o)
		if t == nil {
			t = one
			continue
		}
		t.rows = append(t.rows, one.rows...)
	}
	return t
}

// partners is the matrix of messages.
func partners(s *hiera.Statistics, _ Options) *table {
	pairs := s.Pairs()
	if len(pairs) == 0 {
		return nil
	}
	t := &table{title: "Messages between processes", few: 60, columns: []column{{"from", "from", number}, {"to", "to", number}, {"sent", "sent", number},
		{"sent_bytes", "bytes", number}, {"send_mean", "send us", single}, {"received", "received", number}, {"received_bytes", "bytes", number},
		{"receive_mean", "receive us", single}}}
	elsewhere := false
	for _, p := range pairs {
		row := []any{process(p.From), process(p.To)}
		for _, x := range []hiera.Exchange{p.Sent, p.Received} {
			var bytes, mean any
			if x.Sized > 0 && x.Sized == x.Messages {
				bytes = x.Bytes
			}
			if x.Timed > 0 {
				mean = float64(x.Time) / float64(x.Timed)
			}
			row = append(row, x.Messages, bytes, mean)
		}
		t.add(row...)
		elsewhere = elsewhere || p.From == hiera.Elsewhere || p.To == hiera.Elsewhere
	}
	t.notes = append(t.notes, "The mean times are of the operations that send and that receive, waiting included.")
	if elsewhere {
		t.notes = append(t.notes, "other: any source, or a rank of a communicator whose place in MPI_COMM_WORLD is not known.")
	}
	return t
}

// related is what the walk by partner found.
func related(_ *hiera.Statistics, o Options) *table {
	if o.Graph == nil || o.Graph.Edges() == 0 {
		return nil
	}
	t := &table{title: "Operations that belong together", columns: []column{{"operation", "operation", text}, {"partner", "partner", text}, {"count", "count", number}}}
	for _, r := range o.Graph.Related() {
		t.add(r.Operation, r.Partner, r.Count)
	}
	t.notes = append(t.notes, fmt.Sprintf("The graph has %d pairs. Only operations in MPI_COMM_WORLD are joined; of a collective one the root has the others as partners.",
		o.Graph.Edges()))
	if o.Graph.Full() {
		t.notes = append(t.notes, fmt.Sprintf("The graph has room for %d operations: those after them are not in it.", hiera.MaxVertices))
	}
	return t
}

// histograms are the distributions of times and of messages' sizes, by call site.
func histograms(s *hiera.Statistics, _ Options) *table {
	t := &table{title: "Histograms: executions by time (ns) and by size (bytes), in powers of two", few: 30, columns: []column{{"category", "category", text},
		{"operation", "operation", text}, {"file", "file", text}, {"line", "line", number}, {"of", "of", text}, {"from", "from", number}, {"below", "below", number},
		{"count", "count", number}}}
	for _, r := range s.ByPlace() {
		for _, h := range []struct {
			of   string
			bins hiera.Bins
		}{{"time", r.Durations}, {"size", r.Sizes}} {
			for i, n := range h.bins {
				from, below := uint64(0), uint64(1)
				if i > 0 {
					from, below = 1<<(i-1), 1<<i
				}
				if n > 0 && i < 64 {
					t.add(r.Category, r.Name, r.File, int64(r.Line), h.of, from, below, n)
				}
			}
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

// cost is the paper's Tables 5 and 9.
func cost(s *hiera.Statistics, o Options) *table {
	if len(o.Plain) == 0 {
		return nil
	}
	t := &table{title: "What measuring cost, seconds", columns: []column{{"process", "process", number}, {"measured", "measured", time}, {"plain", "not measured", time},
		{"share", "longer %", percent}, {"each", "us each", single}}}
	for i, p := range s.Processes {
		plain := o.Plain[min(i, len(o.Plain)-1)]
		share, each := p.Cost(plain)
		t.add(int64(p.Rank), p.Total(), plain, share, each)
	}
	t.notes = append(t.notes, "us each: for each operation. The times without measuring are those given by --baseline.")
	return t
}
