package trigger

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// ended is an execution of a node: in all, and its parts (ns).
func ended(node int32, exec int64, parts ...int64) timeline.Span {
	s := timeline.Span{Node: node, From: 1000, To: 1000 + uint64(exec), Exec: profile.Sum{T: exec, C: 1}}
	for i, ns := range parts {
		s.Parts[i].T = ns
	}
	return s
}

// The nodes of the tests.
var nodes = []timeline.Definition{
	{ID: 1, Construct: event.Barrier}, {ID: 2, Construct: event.ParallelLoop}, {ID: 3, Construct: event.MPI, Name: "MPI_Recv"},
	{ID: 4, Construct: event.MPI, Name: "MPI_Send"}, {ID: 5, Construct: event.Critical}, {ID: 6, Construct: event.UserRegion}}

// sink notes what it is told.
type sink struct {
	timeline.Sink
	nodes, spans int
}

// Define implements timeline.Sink.
func (s *sink) Define(timeline.Definition) { s.nodes++ }

// Span implements timeline.Sink.
func (s *sink) Span(*timeline.Span) { s.spans++ }

func TestWatch(t *testing.T) {
	recv, send := ended(3, 40e6), ended(4, 40e6)
	recv.Kind, send.Kind = timeline.Call, timeline.Call
	fold := ended(5, 1e9)
	fold.Kind = timeline.Fold
	unseen := ended(1, 1e9)
	unseen.Flags = timeline.Unseen
	spans := []timeline.Span{ended(1, 10e6), ended(1, 10e6+1), ended(2, 20e6, 1e6, 10e6, 8e6, 1e6), recv, send, ended(6, 5e9), fold, unseen}
	for text, want := range map[string][]int{
		"barrier: EXECT > 10ms":              {1},
		"Barrier: EXECT >= 0.01":             {0, 1},
		"barrier: EXECT*1000 < 10.0000005":   {0},
		"barrier: EXECT <= 10000us":          {0},
		"parallel loop: BARRT/EXECT > 0.39":  {2},
		"parallel loop: BARRT/EXECT > 0.41":  nil,
		"PARALLEL LOOP: ENTERT+EXITT >= 2ms": {2},
		"any: BODYT > 9.5e6ns":               {2},
		"mpi: EXECT > 0.03 s":                {3, 4},
		"MPI_Recv: EXECT > 3e1ms":            {3},
		"USER REGION: EXECT > 4s":            {5},
		"any: EXECT > (2+2)*1s":              {5},
		"critical: EXECT > 1ms":              nil, // a sum
		"any: EXECC > 1":                     nil,
		"any: EXECT/BODYT > 0.001":           {2}, // the others divide by 0
		" mpi :EXECT-30ms>10ms-1ns":          {3, 4},
		"barrier: EXECT > 10ms + 1us - 1us":  {1},
		"barrier: EXECT > 10 ms":             nil,
	} {
		c, err := Parse(text)
		if strings.Contains(text, " ms") || strings.Contains(text, " s") {
			if err == nil {
				t.Errorf("%s: a unit stands apart from its number, and is taken", text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		to := &sink{}
		var got []int
		now := 0
		w := NewSink(to, []*Condition{c}, func(f *Found) {
			if f.Condition != c {
				t.Errorf("%s: told of %s", text, f.Text)
			}
			got = append(got, now)
		})
		for _, d := range nodes {
			w.Define(d)
		}
		for i := range spans {
			now = i
			w.Span(&spans[i])
		}
		if !slices.Equal(got, want) || to.spans != len(spans) || to.nodes != len(nodes) {
			t.Errorf("%s: fulfilled by %v, want %v; %d spans were handed on", text, got, want, to.spans)
		}
		f := w.Found()[0]
		if f.Executions != uint64(len(want)) || len(want) > 0 && f.First != spans[want[0]] {
			t.Errorf("%s: found %+v", text, f)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "write 'CONSTRUCT: FORMULA > LIMIT'",
		"barrier":                     "write 'CONSTRUCT: FORMULA > LIMIT'",
		"barier: EXECT > 1":           `"barier" is no construct`,
		": EXECT > 1":                 `"" is no construct`,
		"MPI_Nothing: EXECT > 1":      `"MPI_Nothing" is no construct`,
		"barrier: EXECT":              "compares nothing",
		"barrier: EXECT == 1":         "compares nothing",
		"barrier: EXECT > 1 > 2":      "a formula has numbers",
		"barrier: EXECT >":            "a formula has numbers",
		"barrier: cycles > 1":         "a formula has numbers",
		"barrier: EXECT > 10 m":       "a formula has numbers",
		"barrier: EXECT > f(1)":       "a formula has numbers",
		"barrier: EXECT > 1/0":        "a formula has numbers",
		"barrier: EXECT > 10ms\n\x00": "a formula has numbers",
	} {
		_, err := Parse(text)
		if !errors.Is(err, ErrCondition) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFolded(t *testing.T) {
	for text, want := range map[string]bool{"critical": true, "lock": true, "barrier": false, "any": false, "mpi": false} {
		if c, err := Parse(text + ": EXECT > 1"); err != nil || c.Folded() != want {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
}

// FuzzParse: whatever is written, it is a condition that can be asked, or a sentence says why not.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"barrier: EXECT > 10ms", "any: (BARRT/EXECT) >= .5", "MPI_Recv:1<2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrCondition) {
				t.Error(err)
			}
			return
		}
		s := ended(1, 5, 1, 2, 1, 1)
		c.Holds(&s)
	})
}
