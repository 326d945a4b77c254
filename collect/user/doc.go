// Package user finds the regions of the user's own in the code of a program: functions that
// --function names, lines that --region names, and the markers of ompp.h. Regions tells the places
// where probes are wanted (Finders), and says what was not found (Unmatched, NotSeen).
package user
