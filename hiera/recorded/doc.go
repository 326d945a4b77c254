// Package recorded makes hierarchical statistics (package hiera) of recorded profiles, and XML
// traces (package xmltrace) of timelines. A profile holds sums for each region on each call path:
// so counts, times and levels are known, and single times are not. The package is pure.
package recorded
