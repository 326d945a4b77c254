// Package tree holds the call-path tree of regions while events are read. It has a node for each
// region on each path. A node has the figures of each thread, and all else that the profile is made
// of.
package tree
