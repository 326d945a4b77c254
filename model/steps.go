package model

import (
	"cmp"
	"slices"
)

// Steps is a function known at some numbers. Between them it is linear, outside of them constant.
type Steps []Step

// Step is a number and the function's value there.
type Step struct {
	At    int     `json:"at"`
	Value float64 `json:"value"`
}

// Value returns the function's value; 0 if the function is known nowhere. The steps rise.
func (s Steps) Value(at int) float64 {
	for i, x := range s {
		if at <= x.At {
			if i == 0 || at == x.At {
				return x.Value
			}
			before := s[i-1]
			return before.Value + (x.Value-before.Value)*float64(at-before.At)/float64(x.At-before.At)
		}
	}
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].Value
}

// stepsOf returns the means by number.
func stepsOf(values map[int][]float64) (s Steps) {
	for n, v := range values {
		s = append(s, Step{n, mean(v)})
	}
	slices.SortFunc(s, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return s
}
