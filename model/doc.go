// Package model holds the equations of Adhianto and Chapman, and what later models add. The paper
// is Performance modeling of communication and computation in hybrid MPI and OpenMP applications
// (Simulation Modelling Practice and Theory 15, 2007, 481-491). It is pure: numbers in, numbers
// out. Times may be in any unit, as long as all times of a call have the same.
package model
