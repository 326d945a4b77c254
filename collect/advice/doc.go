// Package advice tells, in whole sentences, what a user should know of a measured process beyond
// its profile. It warns of three things. More threads are at work than the process has cores
// (Usage, Cores). Code that GCC compiled runs on libomp (Usage.GCCOnLibomp). Hits come in a storm
// (Rates). The package is pure: it computes from events and from files of /proc that the caller
// opens.
package advice
