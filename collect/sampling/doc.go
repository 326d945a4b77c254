// Package sampling says how often samples may be taken, and which of them were taken while a thread
// was at a probe.
package sampling
