// Package efficiency says how much of a run's thread time did useful work, and what took the rest.
// It has the multithreading efficiency e_mt of Adhianto and Chapman with its losses, the hybrid
// metrics of POP, and the metrics of TALP. It is pure: recorded profiles in, figures out. Times are
// in ns.
package efficiency
