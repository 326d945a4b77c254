// Package testbin compiles the programs of testdata and runs them under an
// independent count of what they execute. For tests only.
package testbin
