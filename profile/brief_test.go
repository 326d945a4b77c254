package profile

import "testing"

func TestBrief(t *testing.T) {
	for name, want := range map[string]string{
		"solve":                   "solve",
		"pvector<int>::fill":      "pvector<int>::fill",
		"operator<< <char, long>": "operator<< <char, long>",
		"a::operator<":            "a::operator<",
		"Generator<int, std::mersenne_twister_engine<unsigned long, 32ul, 624ul> >::MakeRMatEL": "Generator<...>::MakeRMatEL",
		"f<(a->b), std::vector<double, std::allocator<double> > >(std::vector<int>)":            "f<...>(std::vector<int>)",
		`<img src=x onerror=alert(1)>"`:                     `<img src=x onerror=alert(1)>"`,
		"broken<std::vector<double, std::allocator<double>": "broken<std::vector<double, std::allocator<double>",
	} {
		if got := Brief(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
