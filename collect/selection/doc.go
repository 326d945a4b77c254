// Package selection holds what the user does not want to see: the constructs, MPI operations, files
// and functions of --disable and --only. Probes that only unwanted constructs need are taken from
// the plans of probes, and unwanted regions from the profiles.
package selection
