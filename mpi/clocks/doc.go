// Package clocks compares times of several machines' clocks, and says how exactly. It is pure:
// readings and orders of events in, differences with their bounds out.
//
// Orders are certain: a message is received after it was sent. Let θ be the difference of the
// clocks of machines A and B: A's time less B's time at one moment. A message from A to B says θ >=
// sent - received, and one from B to A says θ <= received - sent. If messages went both ways, θ
// lies in an interval. Far from a message the interval is wider, by as much as the clocks' rates
// may differ. The rates follow from the messages, too: θ is a line that goes above all lower bounds
// and below all upper ones (Duda, Harrus, Haddad, Bernard: Estimating global time in distributed
// systems, 1987). As rates change, θ need not be a line: its slope may differ from the line's slope
// by the wander of both clocks (Clock.Wander).
//
// The kernel of a synchronised machine (NTP, PTP) says how far its clock is at most from the true
// time. This claim narrows the interval, and stands alone where no messages went both ways.
// Messages are certain, and a claim is not: if they contradict each other, the messages count.
//
// If messages contradict each other (a machine was stopped for a while, with its clock), there is
// no interval. Then times of the two machines are not compared.
//
//   - reading.go: what a machine's kernel said of its clock
//   - points.go: bounds of θ by time, in bounded memory; the lines between them
//   - link.go: two machines; align.go: all of them, also by way of a third
//   - words.go: how clocks were compared, for the reader
//
// Times that functions take and return are shifted (Clock.Shift), unless they say otherwise.
package clocks
