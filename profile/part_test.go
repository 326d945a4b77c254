package profile

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Each part is the field that bears its name, in all of the structures that have parts.
func TestPartsAreTheFieldsOfTheirNames(t *testing.T) {
	names := [NumParts]string{Exec: "exec", Enter: "enter", Body: "body", Barrier: "barrier", Exit: "exit"}
	var s ThreadStats
	var c Cost
	var x Estimate
	for p, name := range names {
		*s.Parts()[p], *c.Parts()[p], *x.Parts()[p] = Sum{T: 3}, 3, Sum{T: 3}
		for _, v := range []struct {
			of   any
			want string
		}{
			{s, fmt.Sprintf(`"%s":{"t":3}`, name)}, {c, fmt.Sprintf(`"%s":3`, name)}, {x, fmt.Sprintf(`"%s":{"t":3}`, name)},
		} {
			b, err := json.Marshal(v.of)
			var fields map[string]json.RawMessage
			if err == nil {
				err = json.Unmarshal(b, &fields)
			}
			if got := fmt.Sprintf(`"%s":%s`, name, fields[name]); err != nil || got != v.want {
				t.Errorf("%T: %s of %s, want %s (%v)", v.of, got, b, v.want, err)
			}
		}
		s, c, x = ThreadStats{}, Cost{}, Estimate{}
	}
}
