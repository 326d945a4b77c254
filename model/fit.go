package model

import (
	"cmp"
	"math"
	"slices"
)

// Power is the function a + b x^-c.
type Power struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	C float64 `json:"c"`
	// Held: by the points alone a were below 0, and so would be times at large x. a is held at 0.
	Held bool `json:"a_held_at_0,omitempty"`
}

// At returns the function's value. A function that rises can be below 0 below its points.
func (f Power) At(x float64) float64 { return f.A + f.B*math.Pow(x, -f.C) }

// Fit chooses from these exponents. When a grid is cut into pieces, they are the exponents of a
// piece's whole, of its surface, and of its edge.
var exponents = []float64{1, 2. / 3, 1. / 2}

// Fit returns the function a + b x^-c, a not below 0, that is nearest to the points. The measure is
// the least squares of the relative errors: times vary in proportion to their length. With points
// at three or more places it takes the nearest exponent. With points at two places the exponent is
// c, or 1 if c is 0. Points at one place give a function with b = 0 if c is 0, and with a = 0
// otherwise.
func Fit(x, y []float64, c float64) Power {
	if forms := Forms(x, y); len(forms) > 0 {
		return slices.MaxFunc(forms, func(a, b Form) int { return cmp.Compare(a.Weight, b.Weight) }).Power
	}
	return fitWith(x, y, c)
}

// Form is a function with one of the exponents, and how likely that is the right exponent. The
// weights of all forms add up to 1.
type Form struct {
	Power
	Weight float64
}

// Forms returns the functions that Fit chooses from; nil: points at fewer than three places do not
// tell the exponent.
func Forms(x, y []float64) (forms []Form) {
	const choose = 3
	if len(places(x)) < choose {
		return nil
	}
	least := math.Inf(1)
	for _, c := range exponents {
		f := fitWith(x, y, c)
		var sum float64
		for i := range x {
			if size := max(math.Abs(y[i]), math.Abs(f.At(x[i]))); size > 0 {
				off := (f.At(x[i]) - y[i]) / size
				sum += off * off
			}
		}
		least = min(least, sum)
		forms = append(forms, Form{f, sum})
	}
	var all float64
	for i := range forms {
		// The likelihood of normal errors of unknown variance. Rounding is no error.
		const rounding = 1e-20
		forms[i].Weight = math.Pow((least+rounding)/(forms[i].Weight+rounding), float64(len(x))/2)
		all += forms[i].Weight
	}
	for i := range forms {
		forms[i].Weight /= all
	}
	return forms
}

// Again fits other points at the same places, with the exponent that f has.
func (f Power) Again(x, y []float64) Power { return fitWith(x, y, f.C) }

// fitWith is Fit with a given exponent.
func fitWith(x, y []float64, c float64) Power {
	switch len(places(x)) {
	case 0:
		return Power{}
	case 1:
		if c == 0 {
			return Power{A: mean(y)}
		}
		return Power{B: mean(y) * math.Pow(x[0], c), C: c}
	}
	if c == 0 {
		c = 1
	}
	f := leastSquares(x, y, y, c)
	fitted := make([]float64, len(x))
	for i := range x {
		fitted[i] = f.At(x[i])
	}
	return leastSquares(x, y, fitted, c) // points that are low by chance weigh no more
}

// places returns the different values.
func places(x []float64) []float64 {
	at := slices.Clone(x)
	slices.Sort(at)
	return slices.Compact(at)
}

// leastSquares fits a line over x^-c. Errors count relative to the sizes.
func leastSquares(x, y, sizes []float64, c float64) Power {
	const least = 1e-3 // of the largest: a value of 0 does not count without limit
	smallest := 0.
	for _, s := range sizes {
		smallest = max(smallest, least*math.Abs(s))
	}
	if smallest == 0 {
		smallest = 1
	}
	var n, mx, my, xx, xy float64
	weight := make([]float64, len(x))
	for i := range x {
		weight[i] = 1 / math.Pow(max(smallest, math.Abs(sizes[i])), 2)
		n += weight[i]
	}
	for i := range x {
		mx += weight[i] / n * math.Pow(x[i], -c)
		my += weight[i] / n * y[i]
	}
	for i := range x {
		d := math.Pow(x[i], -c) - mx
		xx += weight[i] * d * d
		xy += weight[i] * d * (y[i] - my)
	}
	if xx == 0 {
		return Power{A: my, C: c}
	}
	if a := my - xy/xx*mx; a >= 0 {
		return Power{A: a, B: xy / xx, C: c}
	}
	var top, bottom float64
	for i := range x {
		top += weight[i] * y[i] * math.Pow(x[i], -c)
		bottom += weight[i] * math.Pow(x[i], -2*c)
	}
	return Power{B: top / bottom, C: c, Held: true}
}

// Proportional returns the function b x^-c through points above 0, by least squares of their
// logarithms: how a number of calls, or their bytes, changes. If all points are at one place, the
// exponent is c.
func Proportional(x, y []float64, c float64) Power {
	var n, mx, my, xx, xy float64
	for i := range x {
		if y[i] > 0 {
			n++
			mx, my = mx+math.Log(x[i]), my+math.Log(y[i])
		}
	}
	if n == 0 {
		return Power{}
	}
	mx, my = mx/n, my/n
	for i := range x {
		if y[i] > 0 {
			d := math.Log(x[i]) - mx
			xx += d * d
			xy += d * (math.Log(y[i]) - my)
		}
	}
	if xx > 0 {
		c = -xy / xx
	}
	return Power{B: math.Exp(my + c*mx), C: c}
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}
