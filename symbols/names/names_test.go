package names

import "testing"

func TestSource(t *testing.T) {
	tests := map[string]string{
		"f._omp_fn.0":                         "f",
		"f._omp_fn.0.cold":                    "f",
		"f.constprop.0._omp_fn.12":            "f",
		"f._omp_cpyfn.1":                      "f",
		"f.omp_outlined":                      "f",
		"f.omp_outlined.2":                    "f",
		"f.omp_outlined_debug__":              "f",
		"f.omp_outlined_debug__.omp_outlined": "f",
		".omp_outlined.":                      "",
		".omp_outlined..7":                    "",
		".omp_outlined._debug__.3":            "",
		".omp_task_entry..2":                  "",
		"f.cold":                              "f",
		"f.part.0.isra.0":                     "f",
		"f":                                   "f",
		"cold.f":                              "cold.f",
		"MAIN__._omp_fn.3":                    "MAIN__",
	}
	for in, want := range tests {
		if got := Source(in); got != want {
			t.Errorf("%s comes from %q, want %q", in, got, want)
		}
	}
}
