// Package system is what a machine and its software cost: the system profile of the paper (Adhianto
// and Chapman, 2007). `ompp-attach system` measures the profile once; predictions look costs up.
//
// This package holds the data, the file's reader and writer, and the look-up of costs between
// measured points. It runs nothing. Package system/measure does the measuring.
//
// Between measured points, costs are linear in bytes and in threads, and linear in the logarithm of
// the number of processes. Beyond them, the line through the last two points goes on. An Estimate
// says which of these it is.
package system
