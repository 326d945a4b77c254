// Package top shows a measurement while it goes on. At the end of each window it takes a snapshot,
// and shows what happened since the snapshot before. The measurement is either top's own, or that
// of another run of the tool (Joined). On a terminal the updates are a screen with keys. For a log
// or script they are lines, one for each update.
package top
