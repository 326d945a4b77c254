package profile

import (
	"cmp"
	"slices"
	"testing"
)

func TestPreorder(t *testing.T) {
	for _, c := range []struct {
		name          string
		parents, keys []int
		want          []int
	}{
		{"a root alone", []int{-1}, []int{0}, []int{0}},
		{"children by their keys", []int{-1, 0, 0, 0}, []int{0, 3, 1, 2}, []int{0, 2, 3, 1}},
		{"a child before its parent in the list", []int{-1, 2, 0, 0}, []int{0, 9, 5, 1}, []int{0, 3, 2, 1}},
		{"equal keys in the order of the list", []int{-1, 0, 0, 1, 2, 1}, []int{0, 4, 4, 4, 4, 4}, []int{0, 1, 3, 5, 2, 4}},
	} {
		got := Preorder(len(c.parents), func(n int) int { return c.parents[n] }, func(a, b int) int { return cmp.Compare(c.keys[a], c.keys[b]) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
