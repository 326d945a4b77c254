// Package advice tells what a user should know of a measured process beyond its profile, in whole
// sentences: more threads at work than the process has cores (Usage, Cores), code that GCC compiled
// on libomp (Usage.GCCOnLibomp), and a storm of hits (Rates). The package is pure: it computes from
// events and from files of /proc that the caller opens.
package advice
