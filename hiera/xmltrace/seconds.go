package xmltrace

import (
	"fmt"
	"strconv"
	"strings"
)

// mostSeconds bounds times: their nanoseconds fit into 63 bits many times.
const mostSeconds = 1_000_000_000

// seconds reads a number of seconds with a point and returns it in ns. Digits behind the ninth
// decimal are left out.
func seconds(s string) (ns int64, ok bool) {
	s = strings.TrimSpace(s)
	negative := strings.HasPrefix(s, "-")
	whole, decimals, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if whole == "" || len(whole) > 10 || !digits(whole) || !digits(decimals) {
		return 0, false
	}
	ns, _ = strconv.ParseInt(whole, 10, 64) // cannot fail: at most ten digits
	if ns > mostSeconds {
		return 0, false
	}
	part, _ := strconv.ParseInt((decimals + "000000000")[:9], 10, 64)
	ns = ns*1e9 + part
	if negative {
		ns = -ns
	}
	return ns, true
}

func digits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// decimal writes a time in ns as seconds with nine decimals.
func decimal(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	return fmt.Sprintf("%s%d.%09d", sign, ns/1e9, ns%1e9)
}
