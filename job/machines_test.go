package job

import (
	"strings"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/clocks"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// clockOf returns the record of a clock that is ahead by a time. The time of day is wrong by off.
func clockOf(boot string, ahead, off int64, synchronised bool) *clocks.Record {
	at := func(t int64) clocks.Reading {
		return clocks.Reading{Monotonic: t + ahead, Real: t + 1e18 + off, Synchronised: synchronised, MaxError: 20, Within: 1}
	}
	return &clocks.Record{Boot: boot, Begin: at(50), End: at(1000)}
}

// onlyMessage takes the barrier out of a profile that the function waiting has made.
func onlyMessage(p *profile.Profile, op string, at [2]uint64) {
	r := calllog.NewRecorder()
	o, _ := mpi.ParseOp(op)
	peer := int32(1 - p.Meta.MPI.Rank)
	r.Add(1, calllog.Site{Node: 2}, &match.Call{Op: o, Start: at[0], End: at[1], To: peer, From: peer, Sends: peer == 0, Receives: peer == 1})
	p.Calls = &r.Log
}

// TestMachines: the test says which ranks share a clock, by what the clocks of others are compared,
// and what the reader is told. The clock of rank 1 is ahead by 7000.
func TestMachines(t *testing.T) {
	type span = [2]uint64
	const ahead = 7000
	for name, c := range map[string]struct {
		first, second *clocks.Record
		host          string
		messages      [2]span // of both ranks, by the first one's clock
		spoil         func(a, b *profile.Profile)
		machines      int
		waits         uint64 // for ranks of other machines
		notes         string
	}{
		"containers": {first: clockOf("a", 0, 0, false), second: clockOf("a", 0, 0, false), host: "other", machines: 1},
		"old":        {host: "h", machines: 1},
		"one name": {first: clockOf("a", 0, 0, false), second: clockOf("b", ahead, 0, false), host: "h", machines: 2,
			notes: "The ranks ran on 2 machines: h has rank 0, h has rank 1. Clocks of 1 pair were compared by the order of messages: within 0.2 us on average. 0 calls waited for ranks of other machines. 4 more calls may have waited, or not"},
		"synchronised": {first: clockOf("a", 0, 0, true), second: clockOf("b", ahead, 5, true), host: "other", machines: 2, waits: 2,
			notes: "the order of messages, and by what the kernels say of their synchronisation: within 0.1 us on average. 2 calls waited for ranks of other machines: 0.000000 sec, ± 0.1 us (each ± 0.1 us at most)."},
		"badly synchronised": {first: clockOf("a", 0, 0, true), second: clockOf("b", ahead, 900, true), host: "other", machines: 2,
			notes: "The clocks of h and other were compared by messages only: these contradict by"},
		"set": {first: clockOf("a", 0, 0, true), second: clockOf("b", ahead, 0, true), host: "other", machines: 2,
			spoil: func(_, b *profile.Profile) { b.Meta.Clock.End.Real += 500 }, notes: "The time of day of other was set while the job ran"},
		"jumped": {first: clockOf("a", 0, 0, false), second: clockOf("b", ahead, 0, false), host: "other", machines: 2, messages: [2]span{{420, 430}, {900, 940}},
			notes: "were not compared: messages contradict each other by 0.2 us, so a clock has jumped"},
		"one way": {first: clockOf("a", 0, 0, false), second: clockOf("b", ahead, 0, false), host: "other", machines: 2,
			spoil: func(a, b *profile.Profile) {
				onlyMessage(a, "MPI_Recv", span{500, 650})
				onlyMessage(b, "MPI_Send", span{600 + ahead, 640 + ahead})
			}, notes: "1 was not: the other rank ran on another machine, and their clocks cannot be compared."},
		"one way, badly synchronised": {first: clockOf("a", 0, 0, true), second: clockOf("b", ahead, 900, true), host: "other", machines: 2,
			spoil: func(a, b *profile.Profile) {
				onlyMessage(a, "MPI_Recv", span{500, 650})
				onlyMessage(b, "MPI_Send", span{600 + ahead, 640 + ahead})
			}, notes: "were not compared: messages went one way only, and contradict by"},
	} {
		shift := uint64(0)
		if c.machines == 2 {
			shift = ahead
		}
		by := func(s span) span { return span{s[0] + shift, s[1] + shift} }
		if c.messages == [2]span{} {
			c.messages = [2]span{{500, 650}, {600, 640}}
		}
		a, b := waiting(0, span{100, 410}, c.messages[0]), waiting(1, by(span{400, 412}), by(c.messages[1]))
		a.Meta.Clock, b.Meta.Clock, b.Meta.Host = c.first, c.second, c.host
		if c.spoil != nil {
			c.spoil(a, b)
		}
		j, err := Read(sourcesOf(t, a, b), Options{Severity: &severity.Options{}})
		if err != nil {
			t.Fatal(err)
		}
		w, notes := j.Waits, strings.Join(j.Severity.Notes, " ")
		if max(1, len(w.Machines)) != c.machines || w.Across.Waits != c.waits || !strings.Contains(notes, c.notes) || (j.Severity.Nodes != nil) != (c.machines > 1) {
			t.Errorf("%s: %+v\n%s", name, w.Machines, notes)
		}
		if c.machines == 1 && j.Severity.Total("mpi_barrier.wait") != 300 {
			t.Errorf("%s: %d in the barrier", name, j.Severity.Total("mpi_barrier.wait"))
		}
		for _, b := range j.Severity.Blames {
			if (b.Bound > 0) != (c.waits > 0) || b.Time < b.Bound {
				t.Errorf("%s: %+v", name, b)
			}
		}
	}
}
