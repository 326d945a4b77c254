package reader

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/handles"
	"ompp-attach/mpi/match/waits"
)

// requests says to which operations the requests of a rank belong.
type requests struct {
	log   *match.RankCalls
	table handles.Table[waits.Operation]
	// begun are the requests that the log's own calls made. It is kept if the rank was attached to.
	begun map[uint64]struct{}
}

func newRequests(log *match.RankCalls) requests {
	q := requests{log: log, table: handles.New[waits.Operation]()}
	if log.Attached {
		q.begun = map[uint64]struct{}{}
	}
	return q
}

// renew notes that a call makes, or starts, a request. The handle may have been that of an earlier
// request. renew returns operations that no call can complete any more.
func (q *requests) renew(c *match.Call) (gone []waits.Operation) {
	return q.table.Give(c.Request, nil, handles.GivenAt(q.log, c), c.Start)
}

// note notes that a call made its request.
func (q *requests) note(c *match.Call) {
	if q.begun != nil {
		q.begun[c.Request] = struct{}{}
	}
}

// begin says to which operation the request of a call belongs.
func (q *requests) begin(c *match.Call, op waits.Operation) {
	q.table.Name(c.Request, op, handles.GivenAt(q.log, c))
}

// take returns the operation of a request that a call completes; nil: there is none. old: the
// request was made before the rank was attached to. gone is as in renew.
func (q *requests) take(request, now uint64) (op waits.Operation, old bool, gone []waits.Operation) {
	op, ok, gone := q.table.Take(request, now)
	_, begun := q.begun[request]
	return op, !ok && q.begun != nil && !begun, gone
}
