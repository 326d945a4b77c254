package directives

import "testing"

func TestHandsOut(t *testing.T) {
	for clauses, want := range map[string]bool{
		"": false, "schedule(static)": false, "schedule ( static , 4 ) nowait": false,
		"schedule(dynamic)": true, "schedule( guided , n )": true, "nowait schedule(monotonic:dynamic,2)": true, "schedule(runtime)": true,
		"ordered": true, "private(x) ordered(2) nowait": true,
		"reduction(max:runtime)": false, "private(dynamic, ordered) firstprivate(guided)": false, "private(ordered_ids)": false, "if(f(g(ordered)))": false,
	} {
		if got := (Directive{Clauses: clauses}).HandsOut(); got != want {
			t.Errorf("%q: %t", clauses, got)
		}
	}
}
