// Package debuginfod fetches separate debug files from debuginfod servers, by build
// id, into a cache. It asks nobody unless the user has named servers
// (DEBUGINFOD_URLS), and neither waits nor reads without end: what a server sends is
// bounded by time and size, and all that a client fetches together is bounded by
// time, since somebody waits for a report. The cache has the layout of elfutils'
// client, so that gdb finds what is in it. root's is its own, not below $HOME,
// which may be another user's.
package debuginfod
