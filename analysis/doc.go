// Package analysis derives figures for readers from a recorded profile: flat profiles, and ompP's
// overhead classes and performance properties. It is pure and expects a profile that
// profile.Validate accepts. All times are in nanoseconds, summed over threads, unless a comment
// says otherwise.
package analysis
