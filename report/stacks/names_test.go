package stacks

import (
	"regexp"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// pprof shortens a name to the part behind a dot or ::, for boxes that are narrow. That part is
// what the region is, and no region has another.
func TestNamesSurviveShortening(t *testing.T) {
	at := func(c event.Construct, name string, l profile.Location) *profile.Region {
		return &profile.Region{Construct: c, Name: name, Location: l}
	}
	place := profile.Location{File: "/src/my.solver/plate.f.c", Begin: 223, Function: "solve"}
	code := profile.Location{Function: "ns::Grid::step", Object: "/usr/lib/libsolve.so.1.2", Offset: 0x1a2b, Mark: profile.Approx}
	for _, tt := range []struct {
		of         *profile.Region
		full, tiny string
	}{
		{at(event.Lock, "", place), "plate::LOCK 223", "LOCK 223"},
		{at(event.Critical, "queue.a", place), "plate::CRITICAL queue_a 223", "CRITICAL queue_a 223"},
		{at(event.MPI, "MPI_Send", place), "plate::MPI_Send 223", "MPI_Send 223"},
		{at(event.UserRegion, "phase 1.5", place), "plate::USER REGION phase 1_5 223", "USER REGION phase 1_5 223"},
		{at(event.Loop, "", code), "libsolve::LOOP ~ns:Grid:step 0x1a2b", "LOOP ~ns:Grid:step 0x1a2b"},
		{at(event.MPI, "MPI_Recv", profile.Location{Object: "/bin/a.out", Offset: 16}), "a::MPI_Recv 0x10", "MPI_Recv 0x10"},
		{at(event.Unknown, "", profile.Location{}), "UNDER WAY (unknown place)", "UNDER WAY (unknown place)"},
	} {
		full := FrameName(tt.of)
		parts := regexp.MustCompile(`::|\.`).Split(full, -1)
		if tiny := parts[len(parts)-1]; full != tt.full || tiny != tt.tiny || len(parts) > 2 {
			t.Errorf("%q, in a narrow box %q; want %q, %q", full, tiny, tt.full, tt.tiny)
		}
	}
	for symbol, want := range map[string]string{"solve": "solve", "solve._omp_fn.0": "solve (omp_fn_0)", "solve.constprop.0.isra.0": "solve (constprop_0_isra_0)",
		"main.omp_outlined": "main (omp_outlined)", ".omp_outlined.": ".omp_outlined.", "ns::f(int) [clone ._omp_fn.1]": "ns::f(int) [clone ._omp_fn.1]",
		"libgomp.so.1.0.0+0x1e2d0": "libgomp+0x1e2d0", "[libgomp.so.1.0.0]": "[libgomp]", "[unknown]": "[unknown]"} {
		if got := FunctionName(symbol); got != want {
			t.Errorf("%s: %q, want %q", symbol, got, want)
		}
	}
}
