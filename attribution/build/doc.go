// Package build makes a profile of the tree that the engine has built. In the tree, nodes are
// addresses; in the profile, they are places in the source. Nodes that turn out to be one place
// become one node (build.go). Constructs that the compiler had split become one (combine.go).
// Recursive tasks are grouped (groups.go).
package build
