package recorded

import "testing"

func TestMethod(t *testing.T) {
	for name, want := range map[string][2]string{
		"dgemm_":                                 {"", "dgemm_"},
		"Solver::step":                           {"Solver", "step"},
		"Solver::step(int) const":                {"Solver", "step(int) const"},
		"a::b::Solver<c::d>::step(e::f)":         {"a::b::Solver<c::d>", "step(e::f)"},
		"(anonymous namespace)::Solver::step()":  {"(anonymous namespace)::Solver", "step()"},
		"operator<<(std::ostream&, int)":         {"", "operator<<(std::ostream&, int)"},
		"Vec::operator<(Vec const&) const":       {"Vec", "operator<(Vec const&) const"},
		"Vec::operator unsigned int() const":     {"Vec", "operator unsigned int() const"},
		"void Solver::step<int>(int)":            {"Solver", "step<int>(int)"},
		"std::vector<int> Solver::all<int>(int)": {"Solver", "all<int>(int)"},
		"void step<int>(int)":                    {"", "void step<int>(int)"},
		"":                                       {"", ""},
		"::":                                     {"", ""},
	} {
		class, own := method(name)
		if got := [2]string{class, own}; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzMethod(f *testing.F) {
	f.Add("std::vector<int> Solver::all<int>(int)")
	f.Fuzz(func(_ *testing.T, name string) { method(name) })
}
