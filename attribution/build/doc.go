// Package build makes a profile of the tree that the engine has built. In the tree, nodes are
// addresses; in the profile, they are places in the source. Nodes that turn out to be one place
// become one node (build.go), constructs that the compiler had split become one (combine.go), and
// recursive tasks are grouped (groups.go).
package build
