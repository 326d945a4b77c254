package xmltrace

import (
	"io"

	"ompp-attach/hiera"
)

// Load reads the file of a process and adds up its operations. graph, if it is not nil, gets them
// too, as long as it has room. Load's errors are those of Read.
func Load(r io.Reader, graph *hiera.Graph) (*hiera.Tally, []Gap, error) {
	l := &loader{graph: graph}
	if err := Read(r, l); err != nil {
		return nil, nil, err
	}
	return l.Tally, l.gaps, nil
}

// Gap is a time of which a trace knows nothing, in ns.
type Gap struct {
	From, To int64
	Reason   string
}

// mostGaps bounds the gaps that are remembered of a process.
const mostGaps = 1000

type loader struct {
	*hiera.Tally
	graph *hiera.Graph
	gaps  []Gap
}

// Process implements Visitor.
func (l *loader) Process(p *hiera.Process) {
	l.Tally = hiera.NewTally(*p)
	if l.graph != nil {
		l.graph.Process(p.Rank)
	}
}

// Thread implements Visitor.
func (l *loader) Thread(int) { l.Tally.Thread() }

// Enter implements Visitor.
func (l *loader) Enter(op *hiera.Op) error {
	if err := l.Tally.Enter(op); err != nil {
		return err
	}
	if l.graph != nil && !l.graph.Full() {
		l.graph.Add(op)
	}
	return nil
}

// Gap implements Visitor.
func (l *loader) Gap(from, to int64, reason string) {
	if len(l.gaps) < mostGaps {
		l.gaps = append(l.gaps, Gap{from, to, reason})
	}
}
