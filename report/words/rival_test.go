package words

import "testing"

func TestRival(t *testing.T) {
	for _, c := range []struct {
		name, host, want string
	}{
		{"cc1", "", "cc1 (process 7)"}, {"cc1", "h", "cc1 (process 7 on h)"},
		{"ompp-attach", "", "ompp-attach (this tool, process 7)"}, {"ompp-attach", "h", "ompp-attach (this tool, process 7 on h)"},
		{"ompp-attach2", "", "ompp-attach2 (process 7)"},
	} {
		if got := Rival(c.name, 7, c.host); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
