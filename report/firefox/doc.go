// Package firefox writes timelines as profiles for profiler.firefox.com, in the format that
// Firefox's profiler itself writes ("Gecko profile", src/types/gecko-profile.ts of
// github.com/firefox-devtools/profiler).
//
// Each execution is a marker on the track of its thread. There are no samples. Memory does not grow
// with the number of executions.
package firefox
