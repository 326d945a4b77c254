package difference

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/compare"
)

// mostPaths bounds the call paths in the JSON.
const mostPaths = 2000

// pathsOf returns the call paths that take most time on either side, in the order of
// Comparison.Paths, and the number of others. number is the index of each region. A path takes no
// less time than those below it, so none is listed without its parent.
func pathsOf(c *compare.Comparison, number map[*compare.Region]int) (out []pathJSON, others int) {
	inclusive := make([]compare.Change, len(c.Paths))
	order := make([]int, len(c.Paths))
	for i, p := range c.Paths {
		inclusive[i], order[i] = p.Inclusive(), i
	}
	most := func(i int) float64 {
		return math.Max(inclusive[i].Sides[compare.Before].Median, inclusive[i].Sides[compare.After].Median)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(most(b), most(a)) })
	order = order[:min(len(order), mostPaths)]
	slices.Sort(order)
	at := map[int]int{-1: -1}
	for _, i := range order {
		p := c.Paths[i]
		at[i] = len(out)
		out = append(out, pathJSON{at[p.Parent], number[p.Region], changeOf(p.Own()), changeOf(inclusive[i])})
	}
	return out, len(c.Paths) - len(out)
}
