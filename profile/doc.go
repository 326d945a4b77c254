// Package profile is the recorded profile of one process: everything that was measured, as data. The
// engine (package attribution) makes a Profile; whatever is downstream reads one and needs no engine.
//
// A Profile is recorded losslessly in one documented, versioned file (docs/schema.md): Encode, Decode,
// Validate. Profiles are changed as wholes: Hide takes regions out, ScaleCounters and ScaleTurns scale
// counters. Figures of several threads or places are added up by the Add methods, in one place.
//
// The package is pure: its only I/O are the reader and the writer of the codec.
package profile
