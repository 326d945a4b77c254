// Package top shows a measurement while it goes on. At the end of each window it takes a snapshot.
// It shows what happened since the one before. The measurement is top's own, or that of another run
// of the tool (Joined). The updates go to a terminal, which also has keys, or to a log or script, a
// line for each.
package top
