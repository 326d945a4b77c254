package spans

import (
	"fmt"
	"slices"
	"testing"

	"ompp-attach/attribution/seats"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/timeline"
)

// sink writes down what it is told.
type sink struct{ told []string }

func (s *sink) say(format string, a ...any) { s.told = append(s.told, fmt.Sprintf(format, a...)) }

func (s *sink) Define(d timeline.Definition) {
	s.say("node %d in %d: %v %q at %d", d.ID, d.Parent, d.Construct, d.Name, d.Address)
}
func (s *sink) Seat(r timeline.Seat) { s.say("seat %d is %d:%d", r.Seat, r.Root, r.Num) }
func (s *sink) Span(x *timeline.Span) {
	s.say("span of node %d, seat %d: %d to %d, flags %d", x.Node, x.Thread, x.From, x.To, x.Flags)
}
func (s *sink) Gap(g timeline.Gap)         { s.say("gap %d to %d", g.From, g.To) }
func (s *sink) End(d *timeline.Dictionary) { s.say("moved %v", d.Moved) }

// below adds a node to another one.
func below(n *tree.Node, c event.Construct, fn, site uint64) *tree.Node {
	out := &tree.Node{Parent: n}
	out.Key.Construct, out.Key.Fn, out.Key.Site = c, fn, site
	n.Children = append(n.Children, out)
	return out
}

// TestTold: what a sink is told of calls of Spans, and in which order.
func TestTold(t *testing.T) {
	send, _ := mpi.ParseOp("MPI_Send")
	root := &tree.Node{}
	region := below(root, event.Parallel, 70, 8)
	loop := below(region, event.Loop, 0, 9)
	call := below(loop, event.MPI, uint64(send), 10)
	atJump := below(region, event.Single, 71, 0)
	for _, c := range []struct {
		name string
		tell func(sp *Spans)
		want []string
	}{
		{"a node's first span: its seats first, then the nodes around it", func(sp *Spans) {
			for range 2 {
				s := sp.Begin(5, loop, 1)
				s.From, s.To = 20, 30
				sp.Tell(s)
			}
		}, []string{"seat 0 is 0:0", "seat 1 is 0:1", `node 1 in 0: PARALLEL "" at 70`, `node 2 in 1: LOOP "" at 9`,
			"span of node 2, seat 1: 20 to 30, flags 0", "span of node 2, seat 1: 20 to 30, flags 0"}},
		{"names and addresses", func(sp *Spans) { sp.number(call); sp.number(atJump) },
			[]string{`node 1 in 0: PARALLEL "" at 70`, `node 2 in 1: LOOP "" at 9`, `node 3 in 2: MPI "MPI_Send" at 10`, `node 4 in 1: SINGLE "" at 71`}},
		{"a time that would be negative", func(sp *Spans) {
			s := sp.Begin(5, root, 0)
			s.From, s.To = 30, 20
			sp.Tell(s)
		}, []string{"seat 0 is 0:0", "seat 1 is 0:1", "span of node 0, seat 0: 30 to 30, flags 0"}},
		{"under way at the end, and with derived ends", func(sp *Spans) {
			sp.told = 2
			sp.Closing(true)
			sp.Counted(5, root, 0, 1)
			sp.Derived(true)
			sp.Counted(5, root, 0, 2)
			sp.Closing(false)
			sp.Counted(5, root, 0, 3)
			sp.Unseen(5, root, 0, 4, 0)
		}, []string{
			fmt.Sprintf("span of node 0, seat 0: 1 to 1, flags %d", timeline.Open),
			fmt.Sprintf("span of node 0, seat 0: 2 to 2, flags %d", timeline.Open|timeline.Approximate),
			fmt.Sprintf("span of node 0, seat 0: 3 to 3, flags %d", timeline.Approximate),
			fmt.Sprintf("span of node 0, seat 0: 4 to 4, flags %d", timeline.Approximate|timeline.Unseen)}},
		{"gaps that last", func(sp *Spans) {
			sp.Gap(3, 3, timeline.Why(""), 0)
			sp.Gap(3, 4, timeline.Why(""), 0)
		}, []string{"gap 3 to 4"}},
		{"moves of nodes that the sink knows", func(sp *Spans) {
			sp.number(loop)
			sp.Move(region, 1, 1)
			sp.Move(region, 0, 1)
			sp.End(&timeline.Dictionary{})
		}, []string{`node 1 in 0: PARALLEL "" at 70`, `node 2 in 1: LOOP "" at 9`, "moved [{1 0 1} {2 0 1}]"}},
	} {
		for _, n := range []*tree.Node{region, loop, call, atJump} {
			n.Number = 0
		}
		rs, to := seats.New(), &sink{}
		rs.Seat(0, 0)
		rs.Seat(0, 1)
		if c.tell(New(to, rs)); !slices.Equal(to.told, c.want) {
			t.Errorf("%s: told\n%q, want\n%q", c.name, to.told, c.want)
		}
	}
}

// TestNumbers: teams and tasks are numbered from 1. A copy for another sink goes on, without what
// was moved; no sink has no numbers.
func TestNumbers(t *testing.T) {
	rs, to := seats.New(), &sink{}
	rs.Seat(0, 0)
	sp := New(to, rs)
	root := &tree.Node{}
	if a, b := sp.NextTeam(), sp.NextTeam(); a != 1 || b != 2 {
		t.Errorf("teams %d and %d", a, b)
	}
	if a := sp.Created(5, root, 0, 1); a != 1 {
		t.Errorf("task %d", a)
	}
	loop := below(root, event.Loop, 0, 1)
	sp.number(loop)
	sp.Move(loop, 0, 1)
	c := sp.With(&sink{}, rs)
	if a, b := c.NextTeam(), c.Created(5, root, 0, 1); a != 3 || b != 2 || len(c.moved) != 0 {
		t.Errorf("the copy has team %d, task %d, moved %v", a, b, c.moved)
	}
	var none *Spans
	none.Gap(1, 2, timeline.Why(""), 0)
	none.Closing(true)
	none.Derived(true)
	none.Move(root, 0, 1)
	if a := none.NextTeam(); a != 0 {
		t.Errorf("without a sink, team %d", a)
	}
}
