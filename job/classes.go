package job

import (
	"ompp-attach/analysis"
	"ompp-attach/attribution"
	"ompp-attach/event"
)

// Classes are the overhead classes with the paper's fifth, MPI.
type Classes struct {
	analysis.Classes
	MPI int64
}

// Sum is the whole overhead.
func (c Classes) Sum() int64 { return c.Classes.Sum() + c.MPI }

// Add adds d to c.
func (c *Classes) Add(d Classes) {
	c.Classes.Add(d.Classes)
	c.MPI += d.MPI
}

func classify(p *attribution.Profile, node int) []Classes {
	n := &p.Nodes[node]
	out := make([]Classes, len(n.Stats))
	for i, c := range analysis.Classify(p, node) {
		out[i].Classes = c
		if p.Regions[n.Region].Construct == event.MPI {
			out[i].MPI = n.Stats[i].Exec.T
		}
	}
	return out
}
