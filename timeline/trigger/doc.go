// Package trigger finds executions that fulfil a condition of the user's, as in
// --when 'barrier: EXECT > 10ms'.
//
//   - condition.go: conditions, as users write them
//   - sink.go: the sink that looks at each span, and hands the span on
package trigger
