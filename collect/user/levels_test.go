package user

import (
	"strings"
	"testing"

	"ompp-attach/symbols"
)

func TestParseLevel(t *testing.T) {
	for text, want := range map[string]string{
		"blas=libopenblas":                "",
		"solver=./libsolver.so:^Solver::": "",
		"blas":                            "write NAME=LIBRARY",
		"=libx":                           "write NAME=LIBRARY",
		"mpi=libx":                        "has this name",
		"a=libx:(":                        "no regular expression",
		"a=libx:!(":                       "no regular expression",
		"a=libx:!":                        "write behind the !",
		"a=libx:!^slow_$":                 "",
	} {
		l, err := parseLevel(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if l != nil && text == "solver=./libsolver.so:^Solver::" && (l.name != "solver" || l.library != "libsolver.so" || l.regex.String() != "^Solver::") {
			t.Errorf("%+v", l)
		}
	}
	for text, want := range map[string][3]bool{"a=libx": {true, true, true}, "a=libx:^B::": {false, true, false}, "a=libx:!^x_|g": {false, true, false}} {
		l, err := parseLevel(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, names := range [][]string{{"x_1"}, {"_ZN1B1fEv", "B::f()", "B::f"}, {"1", "2g"}} {
			if got := l.takes(names); got != want[i] {
				t.Errorf("%s takes %q: %v", text, names, got)
			}
		}
		if said := l.without("x_1"); strings.Contains(said, "--level 'a=libx:!^x_1$' leaves it out") != (text == "a=libx") {
			t.Errorf("%s: %s", text, said)
		}
	}
	for _, c := range []struct {
		library, file string
		want          bool
	}{
		{"libblas", "/usr/lib/libblas.so.3", true}, {"libblas", "/usr/lib/libcblas.so.3", false},
		{"libblacs*.so", "/usr/lib/libblacs-openmpi.so.1", true}, {"libblacs*.so", "/usr/lib/libblas.so", false},
	} {
		l := &level{library: c.library}
		if got := l.covers(&symbols.Module{Path: c.file}); got != c.want {
			t.Errorf("%s covers %s: %t", c.library, c.file, got)
		}
	}
	u, err := New(nil, nil, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.SetLevels(make([]string, maxLevels+1)); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
	if err := u.SetLevels([]string{"x=liby"}); err != nil || !u.HasLevels() {
		t.Error(err)
	}
	if s := u.Unmatched(); len(s) != 1 || !strings.Contains(s[0], "no file was loaded whose name begins with liby") {
		t.Error(s)
	}
}
