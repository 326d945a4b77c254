// Package debuginfod fetches separate debug files from debuginfod servers, by build id, into a
// cache. It asks no server unless the user has named some (DEBUGINFOD_URLS).
//
// It never waits or reads without end, since somebody waits for a report. Each file is bounded in
// time and size, and all files together are bounded in time.
//
// The cache has the layout of elfutils' client, so that gdb finds the files in it. root has a cache
// of its own: $HOME may be another user's.
package debuginfod
