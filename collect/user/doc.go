// Package user finds the user's own regions in the code of a program. They are functions that
// --function names, lines that --region names, and the markers of ompp.h. Regions tells the places
// where probes are wanted (Finders), and says what was not found (Unmatched, NotSeen).
package user
