// Package results keeps what was measured. It decides which files the directory of a measurement
// holds, and what they are called. It sees to it that no measurement replaces the results of
// another.
//
// What was measured is written somewhere in any case. A profile that cannot be written to its
// directory is written elsewhere, or kept in memory until there is room (elsewhere.go). A file is
// written whole or not at all (save.go). While a measurement is under way, a mark in its directory
// says so (mark.go). The ranks of a job share a directory, which the first of the job's collectors
// claims for the job (claim.go).
//
// Root may write into directories of other users. So every directory is opened by package files,
// and no link in it is followed.
package results
