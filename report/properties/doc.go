// Package properties writes the severities of a run. It writes the tree of properties and the
// findings as text, every value as CSV, and all of it as JSON. The figures come from package
// severity.
package properties
