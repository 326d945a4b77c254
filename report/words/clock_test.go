package words

import "testing"

func TestTime(t *testing.T) {
	for ns, want := range map[float64]string{
		0: "0 s", 0.5: "0.0005 us", 12: "0.012 us", 1234: "1.23 us", 999.6e3: "1000 us", 99.96e3: "100 us", 1e6: "1 ms",
		-12.34e6: "-12.3 ms", 999.9e6: "1000 ms", 1e9: "1.00 s", 99.994e9: "99.99 s", -123.4e9: "-123 s",
	} {
		if got := Time(ns); got != want {
			t.Errorf("%g ns: %s, want %s", ns, got, want)
		}
	}
}
