package words

import "testing"

func TestNamed(t *testing.T) {
	type format struct {
		name   string
		number int
	}
	nameOf := func(f *format) string { return f.name }
	list := []format{{"text", 1}, {"csv", 2}, {"csv", 3}}
	for _, c := range []struct {
		name   string
		number int
		ok     bool
	}{{"text", 1, true}, {"csv", 2, true}, {"", 0, false}, {"Text", 0, false}} {
		if f, ok := Named(list, nameOf, c.name); f.number != c.number || ok != c.ok {
			t.Errorf("%q: %+v, %v", c.name, f, ok)
		}
	}
	if got := Names(list, nameOf); got != "text, csv, csv" {
		t.Errorf("names %q", got)
	}
	if got := Names([]format(nil), nameOf); got != "" {
		t.Errorf("names of nothing: %q", got)
	}
}
