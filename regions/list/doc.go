// Package list prints the regions of a program or library, as `ompp-attach regions` shows them.
package list
