package severity

import "ompp-attach/profile"

// Condition is a property of the user's own: the own time of threads at call paths where it holds.
type Condition struct {
	Name string
	Text string // the comparison, as the user wrote it
	// Holds tells whether it holds for a thread's figures at a node.
	Holds func(*profile.Profile, *profile.ThreadStats) bool
}

// ConditionID returns the ID of the property with that name.
func ConditionID(name string) string { return "user:" + name }

func (c *Condition) property() Property {
	return Property{ID: ConditionID(c.Name), Name: c.Name, Unit: Seconds, Source: "--property", Reported: true,
		Description: "The own time of threads at call paths where " + c.Text + ".",
		Formula:     c.Text}
}

// conditionsAt adds the own time of a thread at a node to the properties that hold there.
func (w *walker) conditionsAt(node int, s *profile.ThreadStats) {
	for i := range w.o.Conditions {
		if c := &w.o.Conditions[i]; c.Holds(w.p, s) {
			w.add(ConditionID(c.Name), node, s.Thread, max(0, s.Exec.T-s.Child), markOf(s))
		}
	}
}
