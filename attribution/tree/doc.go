// Package tree holds the call-path tree of regions while events are read: a node for each region on
// each path, with the figures of each thread and whatever the profile is made of later.
package tree
