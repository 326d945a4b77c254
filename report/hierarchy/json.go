package hierarchy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ompp-attach/hiera"
)

// WriteJSON writes an object with an array for each table, whose rows are objects. Times are in ns.
// A figure that is not known is null. A table with nothing to tell is left out.
func WriteJSON(w io.Writer, s *hiera.Statistics, o Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\n \"version\": 1,\n \"program\": %s,\n \"processes\": %d,\n \"operations\": %d,\n \"notes\": %s",
		encoded(s.Program), len(s.Processes), s.Operations(), encoded(append([]string{}, s.Notes...)))
	for _, x := range all {
		of := x.build
		if x.key == "by_place" {
			of = placesOfEach
		}
		t := of(s, o)
		if t == nil {
			continue
		}
		fmt.Fprintf(out, ",\n \"%s\": [", x.key)
		for i, r := range t.rows {
			if i > 0 {
				out.WriteByte(',')
			}
			var fields []string
			for k, c := range t.columns {
				fields = append(fields, encoded(c.name())+": "+encoded(r[k]))
			}
			fmt.Fprintf(out, "\n  {%s}", strings.Join(fields, ", "))
		}
		fmt.Fprint(out, "\n ]")
	}
	fmt.Fprint(out, "\n}\n")
	return out.Flush()
}

// encoded writes a value as JSON. The values are of types that can be.
func encoded(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}
