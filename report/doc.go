// Package report renders recorded profiles: one file per format and the table
// of formats. It computes no figures of its own; those come from the profile
// and from package analysis.
package report
