// Package severity says what a run's time went to, by three axes: property, call path, and thread.
// The properties are a tree (EXPERT: Mohr et al., Design and Prototype of a Performance Tool
// Interface for OpenMP). It is pure: recorded profiles in, numbers out.
//
// A severity is exclusive on two axes. It leaves out the more special properties below its property
// and the call paths inside its call path. So a sum over a subtree counts nothing twice, and is the
// inclusive value. The properties below Time divide the time of all threads. The other trees count
// something else, or count a part of that time by another rule.
//
// The figures come from package analysis, by the rules Disjoint: this package only puts each of
// them at its place in the tree.
package severity
