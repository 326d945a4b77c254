// Package limits says how far a profile's figures go: what the probes cost, what could not be
// observed, which files have no names, and what a snapshot lacks.
package limits
