package event

// MaxCounts bounds the numbers that an event may carry of its thread: eight counters and, if the
// counters take turns, how long each of them counted, and how long the thread was on a core.
const MaxCounts = 17
