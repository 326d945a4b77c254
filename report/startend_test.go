package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// launched is a rank that is in MPI_Init for the given time, sends for 20 ms, and is in
// MPI_Finalize for 40 ms.
func launched(t *testing.T, rank int, init uint64) *profile.Profile {
	r := &tape{t: t, s: attribution.Stream{PID: 1}}
	for site, op := range map[uint64]string{500: "MPI_Init", 501: "MPI_Send", 502: "MPI_Finalize"} {
		r.place(attribution.Key{Kind: attribution.Kind{Construct: event.MPI}, Site: site}, op, int(site), 0)
	}
	r.call(0, init, 1, "MPI_Init", 500, mpi.Args{})
	r.region(init, 820, 1, func(tid uint32) {
		r.call(810, 820, tid, "MPI_Send", 501, mpi.Args{Send: 8, Size: 2})
		r.at(820, tid, event.Parallel, event.End, event.Event{})
	})
	r.call(820, 830, 1, "MPI_Send", 501, mpi.Args{Send: 8, Size: 2})
	r.call(960, 1000, 1, "MPI_Finalize", 502, mpi.Args{})
	return r.profile(1000, rank, 4)
}

// The start and the end of MPI are shown apart from communication wherever time in MPI is shown;
// ompP's totals include them.
func TestStartEndStandsApart(t *testing.T) {
	p := launched(t, 1, 300)
	var console bytes.Buffer
	if err := Summary(&console, p, nil, Options{Decimals: 2}); err != nil {
		t.Fatal(err)
	}
	text := written(t, "ompp", p, Options{Decimals: 2})
	all := readJob(t, []*profile.Profile{launched(t, 0, 300), launched(t, 1, 300), launched(t, 2, 700), launched(t, 3, 100)})
	of := func(write string) string {
		switch write {
		case "ranks":
			return string(jobBytes(t, all, writeRanksCSV, Options{}))
		case "calls":
			return string(jobBytes(t, all, writeCallsCSV, Options{}))
		case "json":
			return string(jobBytes(t, all, WriteJobJSON, Options{}))
		}
		return string(jobBytes(t, all, WriteJobText, Options{}))
	}
	for _, c := range []struct{ name, text, want string }{
		{"report", text, "MPI time        : 0.360000\n"},
		{"report", text, "MPI time split  : 0.020000 communication, 0.340000 start and end (MPI_Init, MPI_Finalize)\n"},
		{"report", text, "MPI: of all time in MPI, but in its start and end.\n"},
		{"console", console.String(), "0 collectives; 0.02 communication, 0.34 start and end (MPI_Init, MPI_Finalize)\n"},
		{"job", of("text"), "MPI Time        : 1.6400 sec, 41.0% of thread time: 0.0800 communication, 1.5600 start and end (MPI_Init, MPI_Finalize)\n"},
		{"job", of("text"), "Longest in MPI  : no rank, in MPI\n"},
		{"job", of("text"), "communication             0.0200     0  0.0200  0.0200     0  0.0000         0.0%      0.0%      alike\n"},
		{"job", of("text"), "R00003 MPI_Send main.c (501)      8      4      0.0800  100.0%"},
		{"ranks", of("ranks"), ",mpi_start_end_ns\r\n"},
		{"ranks", of("ranks"), ",740000000\r\n"},
		{"calls", of("calls"), ",false\r\n"},
		{"calls", of("calls"), ",true\r\n"},
		{"json", of("json"), `"mpi_start_end_ns": 740000000,`},
		{"json", of("json"), `"start_end": true`},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s: no %q in\n%s", c.name, c.want, c.text)
		}
	}
}
