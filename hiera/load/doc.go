// Package load reads hierarchical statistics from what a user names. That is XML traces, a
// configuration file that names them, a directory of such files, or a directory that run or attach
// has written.
package load
