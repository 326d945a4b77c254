package efficiencies

import (
	"io"

	"ompp-attach/forecast"
	"ompp-attach/model"
)

// The types below are docs/efficiency.md's.
type (
	forecastJSON struct {
		Version     int            `json:"version"`
		Weak        bool           `json:"weak"`
		Cores       int            `json:"cores"`
		CPUs        int            `json:"cpus,omitempty"` // of the machine; absent: not known
		Coverage    float64        `json:"coverage"`       // of the intervals
		Estimated   []string       `json:"estimated"`
		Cells       []cellJSON     `json:"cells"`
		Compared    []comparedJSON `json:"compared"`
		EMT         []figureJSON   `json:"e_mt"`
		EMP         []figureJSON   `json:"e_mp"`
		Serial      model.Power    `json:"serial"`
		Work        model.Power    `json:"work"`
		Growth      model.Steps    `json:"growth"`
		Uneven      model.Steps    `json:"uneven"`
		Unparallel  float64        `json:"unparallel"`
		Beyond      float64        `json:"beyond"`
		Assumptions []string       `json:"assumptions"`
		Advice      []string       `json:"advice"`
	}
	cellJSON struct {
		Ranks              int          `json:"ranks"`
		Threads            int          `json:"threads"`
		Time               float64      `json:"predicted_s"`
		Interval           *[2]float64  `json:"interval_s"` // null: none can be given
		Efficiency         float64      `json:"efficiency"`
		EfficiencyInterval *[2]float64  `json:"efficiency_interval"`
		NoInterval         string       `json:"no_interval,omitempty"` // why
		Parts              cellPartJSON `json:"parts_s"`
		Measured           []float64    `json:"measured_s,omitempty"`
		Best               bool         `json:"best,omitempty"`
		Oversubscribed     bool         `json:"oversubscribed,omitempty"`
		// Costs beyond those in the system profile.
		CostsBeyond bool `json:"costs_beyond,omitempty"`
		// Parts whose fit falls below 0 and is taken for 0.
		Below []string `json:"below_0,omitempty"`
	}
	cellPartJSON struct {
		Serial     float64 `json:"serial"`
		Work       float64 `json:"work"`
		Unparallel float64 `json:"unparallel"`
		Uneven     float64 `json:"uneven"`
		Overhead   float64 `json:"overhead"`
		MPI        float64 `json:"mpi"`
		Crowded    float64 `json:"crowded"`
		Beyond     float64 `json:"beyond"`
	}
	comparedJSON struct {
		Ranks     int         `json:"ranks"`
		Threads   int         `json:"threads"`
		Measured  float64     `json:"measured_s"`
		Predicted float64     `json:"predicted_s"`
		Error     float64     `json:"error"`
		Interval  *[2]float64 `json:"interval_s"`
		Inside    bool        `json:"inside"`
		Against   bool        `json:"against"`
	}
	figureJSON struct {
		Ranks     int     `json:"ranks"`
		Threads   int     `json:"threads"`
		Overhead  float64 `json:"overhead_s,omitempty"`
		Estimated float64 `json:"estimated"`
		Real      float64 `json:"real"`
		Error     float64 `json:"error"`
		Against   bool    `json:"against"`
	}
)

func intervalJSON(i model.Interval) *[2]float64 {
	if i.Why != "" {
		return nil
	}
	return &[2]float64{i.Low, i.High}
}

// WriteForecastJSON writes all of it.
func WriteForecastJSON(w io.Writer, f *forecast.Forecast) error {
	cells := f.Cells()
	out := forecastJSON{Version: jsonVersion, Weak: f.Weak, Cores: f.Cores, CPUs: f.CPUs, Coverage: model.Coverage,
		Estimated: []string{"all but measured_s and real"}, Cells: []cellJSON{}, Compared: []comparedJSON{},
		EMT: figuresJSON(f.Multithreading()), EMP: figuresJSON(f.MessagePassing()), Serial: f.Serial, Work: f.Work, Growth: f.Growth, Uneven: f.Uneven,
		Unparallel: f.Unparallel, Beyond: f.Beyond, Assumptions: f.Assumptions(), Advice: append([]string{}, f.Advice(cells)...)}
	for i := range cells {
		c := &cells[i]
		p := &c.Parts
		out.Cells = append(out.Cells, cellJSON{Ranks: c.Ranks, Threads: c.Threads, Time: c.Time, Interval: intervalJSON(c.Interval), Efficiency: c.Efficiency,
			EfficiencyInterval: intervalJSON(c.EfficiencyInterval), NoInterval: c.Interval.Why,
			Parts:    cellPartJSON{p.Serial, p.Work, p.Unparallel, p.Uneven, p.Overhead, p.MPI, p.Crowded, p.Beyond},
			Measured: c.Measured, Best: c.Best, Oversubscribed: c.Oversubscribed, CostsBeyond: c.CostsBeyond, Below: c.Below})
	}
	for _, c := range f.Compare() {
		out.Compared = append(out.Compared, comparedJSON{c.Ranks, c.Threads, c.Measured, c.Predicted, c.Error, intervalJSON(c.Interval), c.Inside, c.Against})
	}
	return encode(w, out)
}

func figuresJSON(rows []forecast.Figure) []figureJSON {
	out := []figureJSON{}
	for _, x := range rows {
		out = append(out, figureJSON{x.Ranks, x.Threads, x.Overhead, x.Estimated, x.Real, x.Error, x.Against})
	}
	return out
}
