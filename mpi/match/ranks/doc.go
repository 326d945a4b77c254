// Package ranks holds the ranks of which logs are read, and their communicators (Group). It
// compares times of the ranks' machines (Clocks).
package ranks
