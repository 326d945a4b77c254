package matchtest

import (
	"fmt"
	"strings"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// Op returns an operation by its name without MPI_.
func Op(name string) mpi.Op {
	o, ok := mpi.ParseOp("MPI_" + name)
	if !ok {
		panic(name)
	}
	return o
}

// Call returns a call on MPI_COMM_WORLD. Its times are in us, and its site is its beginning.
func Call(name string, start, end uint64, set ...func(*match.Call)) match.Call {
	info := Op(name).Info()
	c := match.Call{Op: Op(name), Start: 1000 * start, End: 1000 * end, Site: int(start), To: mpi.NoPeer, From: mpi.NoPeer,
		Later: info.Request != mpi.None && !match.Waits(Op(name)), Sends: true, Receives: true}
	if info.Kind == mpi.PointToPoint {
		c.Sends, c.Receives = info.Counts&mpi.CountSend != 0, info.Counts&mpi.CountRecv != 0
	}
	for _, f := range set {
		f(&c)
	}
	return c
}

// To sets the destination and tag of a send.
func To(rank, tag int32) func(*match.Call) {
	return func(c *match.Call) { c.To, c.SendTag = rank, tag }
}

// From sets the source and tag of a receive.
func From(rank, tag int32) func(*match.Call) {
	return func(c *match.Call) { c.From, c.RecvTag = rank, tag }
}

// Root sets the root, or the target.
func Root(rank int32) func(*match.Call) { return func(c *match.Call) { c.To = rank } }

// As sets the request that a call makes.
func As(request uint64) func(*match.Call) { return func(c *match.Call) { c.Request = request } }

// Of sets the requests that a call completes, or the handle of a message.
func Of(requests ...uint64) func(*match.Call) { return func(c *match.Call) { c.Completes = requests } }

// Comm sets the communicator.
func Comm(i int) func(*match.Call) { return func(c *match.Call) { c.Comm = i } }

// With sets the other side of an epoch.
func With(ranks ...int32) func(*match.Call) {
	return func(c *match.Call) {
		for _, r := range ranks {
			c.Completes = append(c.Completes, match.Member(c.Comm, r))
		}
	}
}

// Thread sets the thread.
func Thread(i int) func(*match.Call) { return func(c *match.Call) { c.Thread = i } }

// Nothing makes a collective operation move no data here.
func Nothing(c *match.Call) { c.Sends, c.Receives = false, false }

// SendsOnly makes a collective operation receive nothing here.
func SendsOnly(c *match.Call) { c.Receives = false }

// LogOf returns the log of a rank on MPI_COMM_WORLD.
func LogOf(rank, size int, calls ...match.Call) *match.RankCalls {
	l := match.List(calls)
	return &match.RankCalls{Rank: rank, Comms: []match.Comm{{Name: "world", Size: int32(size), Rank: int32(rank)}}, Threads: []match.Calls{&l}}
}

// World returns the logs of ranks that call something on MPI_COMM_WORLD.
func World(ranks ...[]match.Call) (logs []*match.RankCalls) {
	for i, calls := range ranks {
		logs = append(logs, LogOf(i, len(ranks), calls...))
	}
	return logs
}

// Show writes waits as "property rank<rank us xcount", in us.
func Show(waits []match.Wait) string {
	names := [match.NumProperties]string{"late sender", "late sender done", "wrong order", "wrong order other", "late receiver", "late receiver done", "late receiver order",
		"barrier", "barrier done", "nxn", "nxn done", "late broadcast", "early reduce", "early scan", "init", "init done", "finalize", "fence", "create", "free", "late post", "early wait", "lock"}
	var out []string
	for _, w := range waits {
		due := ""
		if w.Due != w.At {
			due = fmt.Sprintf("<%d@%d", w.Due.Rank, w.Due.Site)
		}
		out = append(out, fmt.Sprintf("%s %d@%d%s %d x%d", names[w.Property], w.At.Rank, w.At.Site, due, w.T/1000, w.Count))
	}
	return strings.Join(out, "; ")
}

// Left returns the count of n calls that were left out for one reason, and of calls that were
// matched.
func Left(why match.Reason, n, matched uint64) match.Count {
	c := match.Count{Calls: n + matched, Matched: matched}
	c.Left[why] = n
	return c
}

// Tells sets the messages that a call's requests received.
func Tells(came ...match.Came) func(*match.Call) { return func(c *match.Call) { c.Came = came } }

// Came is the message that the request at an index received.
func Came(at int, from, tag int32) match.Came { return match.Came{At: at, From: from, Tag: tag} }

// Attached marks a log as that of a rank that was attached to.
func Attached(l *match.RankCalls) *match.RankCalls {
	l.Attached, l.Comms[0].Old = true, true
	return l
}

// Anew returns the logs of ranks that were attached to, each time from the beginning.
func Anew(ranks ...[]match.Call) func() []*match.RankCalls {
	return func() []*match.RankCalls {
		logs := World(ranks...)
		for _, l := range logs {
			Attached(l)
		}
		return logs
	}
}

// Exclusive asks for the exclusive lock of a target.
func Exclusive(rank int32) func(*match.Call) { return Root(rank) }

// Shared asks for the shared lock of a target.
func Shared(rank int32) func(*match.Call) {
	return func(c *match.Call) { c.To, c.Sends = rank, false }
}

// SharedAll makes a lock of all targets shared.
func SharedAll(c *match.Call) { c.Sends = false }
