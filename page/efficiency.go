package page

import "ompp-attach/efficiency"

// Efficiency is one of POP's metrics, from 0 to 1, with the metrics of which it is the product.
type Efficiency struct {
	Key   string  `json:"key"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Region is the number of the region that takes most from the metric; absent: no region does.
	Region int          `json:"region,omitempty"`
	Of     []Efficiency `json:"of,omitempty"`
}

// efficiencyOf returns POP's tree of a run, or a sentence that says why there is none.
func efficiencyOf(r *efficiency.Run) (tree *Efficiency, untold string) {
	if h := r.Hidden(); h != nil {
		return nil, "How well the program runs " + h.Says()
	}
	m := metricOf(r.Multiplicative())
	return &m, ""
}

func metricOf(m efficiency.Metric) Efficiency {
	out := Efficiency{Key: m.Key, Name: m.Name, Value: m.Value, Region: m.Region}
	for _, below := range m.Of {
		out.Of = append(out.Of, metricOf(below))
	}
	return out
}
