// Package profile is the recorded profile of one process: all measured figures, as data. The engine
// (package attribution) makes a Profile. The packages that read one need no engine.
//
// A Profile is recorded losslessly in one documented, versioned file (docs/schema.md): see Encode,
// Decode and Validate. Some functions change a whole profile: Hide takes regions out, ScaleCounters
// and ScaleTurns scale counters; Window takes an earlier state away from a later one. The Add
// methods are the one place where figures of several threads or places are added up.
//
// The package is pure: its only I/O are the reader and the writer of the codec.
package profile
