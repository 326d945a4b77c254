package deepcopy

import (
	"maps"
	"testing"
)

type owned map[int]int

// copies counts the calls of Own.
var copies int

func (o *owned) Own() { copies++; *o = owned(maps.Clone(map[int]int(*o))) }

type node struct {
	Next   *node
	values []int
	named  map[string]*node
	counts map[string]int32
	kept   owned
	pair   [2][]int
	ask    func() int
	spare  []int `copy:"-"`
}

// TestOf: a copy shares nothing that can change, and pointers to one value stay pointers to one.
func TestOf(t *testing.T) {
	leaf := &node{values: []int{7}}
	v := &node{Next: leaf, values: []int{1, 2}, named: map[string]*node{"leaf": leaf}, counts: map[string]int32{"a": 1},
		kept: owned{3: 4}, pair: [2][]int{{5}, {6}}, ask: func() int { return 42 }, spare: []int{8}}
	leaf.Next = v // a ring
	copies = 0
	c := Of(v)
	if c == v || c.Next == leaf || c.Next != c.named["leaf"] || c.Next.Next != c {
		t.Fatal("the copy's pointers are not those of the original")
	}
	v.values[0], v.counts["a"], v.kept[3], v.pair[1][0], leaf.values[0] = 0, 0, 0, 0, 0
	delete(v.named, "leaf")
	if c.values[0] != 1 || c.counts["a"] != 1 || c.kept[3] != 4 || c.pair[1][0] != 6 || c.Next.values[0] != 7 || len(c.named) != 1 {
		t.Errorf("the copy changes with the original: %+v", c)
	}
	if c.ask() != 42 {
		t.Error("functions are not shared")
	}
	if c.spare != nil {
		t.Errorf("memory for reuse is copied: %v", c.spare)
	}
	if copies == 0 {
		t.Error("a map that copies itself was not asked to")
	}
}

// TestNothing: what is nil stays nil.
func TestNothing(t *testing.T) {
	if c := Of(&node{}); c.Next != nil || c.values != nil || c.named != nil || c.counts != nil {
		t.Errorf("%+v", c)
	}
}
