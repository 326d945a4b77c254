package model

import "math"

// Power is the function a + b x^-c.
type Power struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	C float64 `json:"c"`
}

// At returns the function's value, but none below 0: it is a time.
func (f Power) At(x float64) float64 { return max(0, f.A+f.B*math.Pow(x, -f.C)) }

// exponents are those that Fit chooses from: none, and what a surface or the whole of a grid that is
// cut into pieces of two or three dimensions has.
var exponents = []float64{1, 2. / 3, 1. / 2}

// Fit returns the function a + b x^-c nearest to the points by least squares. Of points at three or
// more places, each is left out in turn, and the exponent that foretells it best is taken. Of points
// at two places the exponent is c. Points at one place give a function with b = 0 if c is 0, and
// with a = 0 otherwise.
func Fit(x, y []float64, c float64) Power {
	places := map[float64]bool{}
	for _, v := range x {
		places[v] = true
	}
	switch len(places) {
	case 0:
		return Power{}
	case 1:
		var sum float64
		for i := range y {
			sum += y[i]
		}
		mean := sum / float64(len(y))
		if c == 0 {
			return Power{A: mean}
		}
		return Power{B: mean * math.Pow(x[0], c), C: c}
	case 2:
		if c == 0 {
			c = 1
		}
		return leastSquares(x, y, c)
	}
	best, least := exponents[0], math.Inf(1)
	for _, c := range exponents {
		if off := leaveOut(x, y, c); off < least {
			best, least = c, off
		}
	}
	return leastSquares(x, y, best)
}

// leaveOut returns the sum of the squared errors with which the other points foretell each point.
func leaveOut(x, y []float64, c float64) (sum float64) {
	for i := range x {
		var xs, ys []float64
		for j := range x {
			if x[j] != x[i] {
				xs, ys = append(xs, x[j]), append(ys, y[j])
			}
		}
		off := leastSquares(xs, ys, c).At(x[i]) - y[i]
		sum += off * off
	}
	return sum
}

// leastSquares fits a line over x^-c.
func leastSquares(x, y []float64, c float64) Power {
	n := float64(len(x))
	var mx, my, xx, xy float64
	for i := range x {
		mx += math.Pow(x[i], -c) / n
		my += y[i] / n
	}
	for i := range x {
		d := math.Pow(x[i], -c) - mx
		xx += d * d
		xy += d * (y[i] - my)
	}
	if xx == 0 {
		return Power{A: my}
	}
	return Power{A: my - xy/xx*mx, B: xy / xx, C: c}
}

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
