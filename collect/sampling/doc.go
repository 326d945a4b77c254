// Package sampling takes the samples of a measurement. It says how often samples may be taken, and
// which of them were taken while a thread was at a probe. It describes the samples for a profile.
package sampling
