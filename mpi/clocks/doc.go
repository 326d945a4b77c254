// Package clocks compares times of several machines' clocks, and says how exactly. It is pure:
// readings and the order of things in, differences with their bounds out.
//
// What is certain is the order: a message is received after it was sent. Let θ be what has to be
// added to a time of machine B to get the time of machine A at that moment. A message from A to B
// says θ >= sent - received, and one from B to A says θ <= received - sent. If messages went both
// ways, θ lies in an interval. Far from a message the interval is wider, by as much as the clocks'
// rates may differ. The rates follow from the messages, too: θ is a line that goes above all lower
// bounds and below all upper ones (Duda, Harrus, Haddad, Bernard: Estimating global time in
// distributed systems, 1987). As clocks are not exact, θ need not be a line: its slope may differ
// from that of the line by Clock.Wander.
//
// Machines that are synchronised (NTP, PTP) tell how far they are at most from the true time. This
// narrows the interval, and stands alone where no messages went both ways. Messages are certain,
// and a machine's word is not: if they contradict each other, messages count.
//
// If messages contradict each other (a machine was stopped for a while, with its clock), there is
// no interval. Then times of the two machines are not compared.
package clocks
