package advice

import (
	"strings"
	"testing"

	"ompp-attach/preflight"
)

// The report says that hits may have cost more than was measured on older kernels only, and only
// where many threads are hit.
func TestContention(t *testing.T) {
	for _, tc := range []struct {
		major, minor, threads int
		said                  bool
	}{
		{5, 15, 64, true}, {6, 13, 8, true}, {6, 13, 7, false}, {6, 14, 64, false}, {7, 0, 64, false}, {0, 0, 64, false},
	} {
		m := &preflight.Machine{Release: "6.1.0-9", Major: tc.major, Minor: tc.minor}
		got := Contention(m, tc.threads)
		if (got != "") != tc.said || tc.said && !strings.Contains(got, "6.1.0-9") {
			t.Errorf("%d.%d, %d threads: %q", tc.major, tc.minor, tc.threads, got)
		}
	}
}
