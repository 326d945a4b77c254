package jobs

import (
	"encoding/json"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/job/traffic"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/reporttest"
)

// sendingJob is a job of two ranks. The first sends 10 bytes to each of the first ranks, itself
// among them, and the second sends 10 bytes to the first.
func sendingJob(t *testing.T, to int) *job.Job {
	t.Helper()
	ranks := reporttest.Figure9Job(t, 0, 200)
	for i, p := range ranks {
		p.Comms = []profile.Comm{{Parent: -1}}
		var x profile.Traffic
		for r := range []int{to, 1}[i] {
			x.Add(0, int32(r), profile.Exchange{Sends: 1, Out: 10})
		}
		for k := range p.Nodes {
			if r := p.Nodes[k].Region; r >= 0 && p.Regions[r].Construct == event.MPI {
				p.Nodes[k].Stats[0].Traffic = &x
			}
		}
	}
	return reporttest.ReadJob(t, ranks)
}

// Where messages went to ranks that are not known, pairs and receivers are lower bounds.
func TestPartnersBeyondThoseHeld(t *testing.T) {
	for to, want := range map[int]struct {
		atLeast     bool
		pairs, most int
		says, part  string
	}{
		profile.MaxPartners: {false, 257, 255, "257 messages, 2570 bytes, were sent between 257 pairs of ranks, by the senders' records. A rank sent to 1-255 others, rank 0 to the most.", "of all"},
		300: {true, 257, 255, "257 messages, 2570 bytes, were sent to known ranks, by the senders' records. At least 257 pairs of ranks exchanged messages. " +
			"A rank sent to at least 1-255 others. The table has the heaviest of those pairs that are known.", "of known"},
	} {
		j := sendingJob(t, to)
		text := strings.Join(strings.Fields(string(jobBytes(t, j, WriteText, report.Options{}))), " ")
		if !strings.Contains(text, want.says) || !strings.Contains(text, "messages bytes mean "+want.part) {
			t.Errorf("to %d ranks: no %q in\n%s", to, want.says, text)
		}
		var doc struct {
			Traffic struct {
				AtLeast   *bool `json:"at_least"`
				Pairs     int
				Receivers struct{ Max int }
			}
		}
		if err := json.Unmarshal(jobBytes(t, j, WriteJSON, report.Options{}), &doc); err != nil {
			t.Fatal(err)
		}
		if x := doc.Traffic; (x.AtLeast != nil) != want.atLeast || x.Pairs != want.pairs || x.Receivers.Max != want.most {
			t.Errorf("to %d ranks: %+v, want %+v", to, x, want)
		}
	}
}

// Where ranks were not read, what they sent is not known.
func TestTrafficOfMissingRanks(t *testing.T) {
	ranks := reporttest.Figure9Job(t, 0, 200)
	for _, p := range ranks {
		p.Meta.MPI.Size = len(ranks) + 1
		p.Comms = []profile.Comm{{Parent: -1}}
		var x profile.Traffic
		x.Add(0, 1, profile.Exchange{Sends: 1, Out: 10})
		for k := range p.Nodes {
			if r := p.Nodes[k].Region; r >= 0 && p.Regions[r].Construct == event.MPI {
				p.Nodes[k].Stats[0].Traffic = &x
			}
		}
	}
	j := reporttest.ReadJob(t, ranks)
	if x := trafficToJSON(j); !j.TrafficAtLeast() || x == nil || !x.AtLeast {
		t.Errorf("the figures of pairs are no lower bounds: %+v", x)
	}
	text := strings.Join(strings.Fields(string(jobBytes(t, j, WriteText, report.Options{}))), " ")
	if want := "were sent to known ranks by the 2 ranks that could be read, by the senders' records. At least"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// The reason why a partner is not known says what is the case.
func TestReasons(t *testing.T) {
	for want, l := range map[string]traffic.Link{
		"MPI_ANY_SOURCE":             {Local: mpi.AnySource, Unheld: true},
		"beyond those that are held": {Unheld: true},
		"not seen being made":        {},
		"other groups":               {Comm: profile.Comm{Inter: true}},
	} {
		if got := reason(&l); !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
}
