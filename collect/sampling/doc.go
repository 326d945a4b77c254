// Package sampling takes the samples of a measurement. It says how often samples may be taken,
// which of them were taken while a thread was at a probe, and how a profile describes them.
package sampling
