package advice

import (
	"strings"
	"testing"
)

// Who has sampled already is not told to sample, but where the samples are.
func TestSilence(t *testing.T) {
	for sampled, want := range map[bool]string{false: "or use --sample task-clock", true: `Section "Hottest Lines"`} {
		text := Silence(2, sampled)
		if !strings.Contains(text, want) || sampled && strings.Contains(text, "--sample") || !strings.Contains(text, "its 2 threads were outside of all constructs") {
			t.Errorf("sampled %v: %s", sampled, text)
		}
	}
}
