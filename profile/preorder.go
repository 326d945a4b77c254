package profile

import "slices"

// Preorder returns the numbers of the nodes of a tree, depth first: each node stands before its
// children, and children stand in the order that compare gives. Node 0 is the root, and parent
// tells the parents of the n-1 others.
func Preorder(n int, parent func(node int) int, compare func(a, b int) int) []int {
	children := make([][]int, n)
	for i := 1; i < n; i++ {
		children[parent(i)] = append(children[parent(i)], i)
	}
	order := make([]int, 0, n)
	for stack := []int{0}; len(stack) > 0; {
		node := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, node)
		slices.SortStableFunc(children[node], compare)
		slices.Reverse(children[node]) // the last one is taken first
		stack = append(stack, children[node]...)
	}
	return order
}
