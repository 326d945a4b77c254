package collectives

import "ompp-attach/mpi/match/ranks"

// order is the order in which the members of a communicator call its operations.
type order struct {
	group *ranks.Group
	next  map[int32]uint64 // by member: number of its next operation
	open  map[uint64]*instance
	limit uint64 // from this instance on, a member lacks its call
	from  uint64 // before this instance, a member lacks its call: it was not attached to yet
	// prepared is how many requests of persistent operations each member has made.
	prepared map[int32]int
	broken   bool // members called different operations
}

func newOrder(g *ranks.Group) *order {
	return &order{group: g, next: map[int32]uint64{}, prepared: map[int32]int{}, open: map[uint64]*instance{}, limit: ^uint64(0)}
}

// begin notes the number of the first operation in a member's log.
func (o *order) begin(own int32, first uint64) { o.next[own], o.from = first, max(o.from, first) }

// end notes that a rank has no more calls.
func (o *order) end(k *ranks.Rank) {
	for own, m := range o.group.Members {
		if m == k {
			o.limit = min(o.limit, o.next[own])
		}
	}
}
