package timeline

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Plan says what is to be kept of a recording.
type Plan struct {
	// Last keeps what happened within so long before the end; 0: everything within the window.
	Last time.Duration
	// From and To bound the window, since the measurement's beginning. To is 0: until its end.
	From, To time.Duration
	// Cap bounds the memory, or the file of a plan that streams (bytes).
	Cap int64
	// Longest keeps so many executions of each region, the longest ones, with what happened
	// meanwhile; 0: all executions within the window.
	Longest int
	// Stream writes to the file at once. At the cap the recording goes on in memory.
	Stream bool
}

// memory bounds what a recording holds in memory (bytes). The cap of a plan that streams is that of
// its file.
func (p *Plan) memory() int64 {
	if p.Stream {
		return min(p.Cap, defaultCap)
	}
	return p.Cap
}

// The caps if the user gives none, and the least.
const (
	defaultCap = 256 << 20
	leastCap   = 4 << 20
)

// mostLongest bounds how many executions of each region can be asked for.
const mostLongest = 1000

// ParsePlan reads a plan as users write it: last:30s, first:60s, from:100s,for:10s, worst:20 or
// all, each with a cap behind it as in last:30s,256M. The error says in one sentence what is wrong.
func ParsePlan(text string) (*Plan, error) {
	p := &Plan{Cap: defaultCap}
	var length time.Duration
	words := map[string]*time.Duration{"last": &p.Last, "first": &p.To, "from": &p.From, "for": &length}
	given := map[string]bool{}
	for _, part := range strings.Split(text, ",") {
		word, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		if given[word] {
			return nil, fmt.Errorf("--timeline %s: %s is given twice", text, word)
		}
		given[word] = true
		switch to := words[word]; {
		case word == "all" && value == "":
			p.Stream = true
		case word == "worst":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > mostLongest {
				return nil, fmt.Errorf("--timeline %s: give a number from 1 to %d behind worst:, as in worst:20", text, mostLongest)
			}
			p.Longest = n
		case to != nil:
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return nil, fmt.Errorf("--timeline %s: give a time above 0 behind %s:, as in %s:30s", text, word, word)
			}
			*to = d
		default:
			size, err := parseSize(part)
			if err != nil || given["cap"] {
				return nil, fmt.Errorf("--timeline %s: %q is not understood; give last:30s, first:60s, from:100s,for:10s, worst:20 or all, and a cap as in last:30s,256M", text, part)
			}
			given["cap"], p.Cap = true, size
		}
	}
	kinds := 0
	for _, k := range []string{"last", "first", "from", "all", "worst"} {
		if given[k] {
			kinds++
		}
	}
	switch {
	case kinds != 1, given["for"] && !given["from"]:
		return nil, fmt.Errorf("--timeline %s: give one of last:30s, first:60s, from:100s,for:10s, worst:20 or all", text)
	case p.Cap < leastCap:
		return nil, fmt.Errorf("--timeline %s: the cap is too low; give %dM at least", text, leastCap>>20)
	case given["for"]:
		p.To = p.From + length
	}
	return p, nil
}

// parseSize reads a number of bytes with K, M, G or T behind it.
func parseSize(text string) (int64, error) {
	text = strings.TrimSpace(text)
	shift := 0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("KMGT", text[n-1]&^0x20); i >= 0 {
			shift, text = 10*(i+1), text[:n-1]
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (n <= 0 || n > math.MaxInt64>>shift) {
		err = errors.New("out of range")
	}
	return n << shift, err
}
