package reader_test

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/align"
	"ompp-attach/mpi/match/matchtest"
	"ompp-attach/mpi/match/reader"
)

// logsFrom makes logs of three ranks out of bytes. The calls have any operations, times and
// arguments, as in a damaged profile.
func logsFrom(data []byte) []*match.RankCalls {
	var calls [3][]match.Call
	var now [3]uint64
	for ; len(data) >= 8; data = data[8:] {
		r := int(data[0]&0x7f) % 3
		c := match.Call{Op: mpi.Op(int(data[1]) + int(data[0]&0x80)*2), Start: now[r] + uint64(data[2]&15), Site: len(calls[r]), Thread: int(data[3]) >> 6 & 1,
			To: int32(data[4]&7) - 3, From: int32(data[4]>>3&7) - 3, SendTag: int32(data[5] & 1), RecvTag: int32(data[5]>>1&3) - 1,
			Comm: int(data[5]>>4&1) - int(data[5]>>5&1), Sends: data[6]&1 != 0, Receives: data[6]&2 != 0, Unknown: data[6]&4 != 0,
			Later: data[6]&8 != 0, Untold: data[6]&16 != 0, Request: uint64(data[7] & 3)}
		c.End = c.Start + uint64(data[2]>>4)
		now[r] = c.Start
		if data[6]&32 != 0 {
			c.Completes = []uint64{uint64(data[7] >> 2 & 3), uint64(data[7] >> 4 & 3)}
			if data[6]&64 != 0 {
				c.Came = []match.Came{{At: int(data[7]>>6&1) - int(data[7]>>7), From: c.From, Tag: c.RecvTag}}
			}
		}
		calls[r] = append(calls[r], c)
	}
	return world(calls[0], calls[1], calls[2])
}

// FuzzRun: whatever the calls are, matching ends, and counts no more matches than calls.
func FuzzRun(f *testing.F) {
	high := func(o mpi.Op) byte { return byte(o >> 8 << 7) }
	probe, send := op("Probe"), op("Send")
	f.Add([]byte{high(probe), byte(probe), 0x91, 0, 4 << 3, 2, 0, 0, 1 | high(send), byte(send), 5, 0, 3, 0, 1, 0})
	for seed := range uint64(8) {
		m := matchtest.NewModel(seed)
		var data []byte
		for rank, calls := range m.Calls {
			for _, c := range calls[:min(len(calls), 20)] {
				data = append(data, byte(rank%3)|high(c.Op), byte(c.Op), byte(c.Start), 0, byte(c.To+3)&7|byte(c.From+3)&7<<3, byte(c.SendTag)|byte(c.RecvTag+1)<<1, 3, byte(c.Request))
			}
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		joined := func() (logs []*match.RankCalls) {
			for _, l := range logsFrom(data) {
				logs = append(logs, attached(l))
			}
			return logs
		}
		late := joined()
		for i, s := range align.Starts(joined, nil) {
			late[i].Start = s
		}
		for _, r := range []*match.Result{reader.Run(logsFrom(data)), reader.Run(late)} {
			checkResult(t, r)
		}
	})
}

// checkResult: each call is matched or not, and each wait has a time.
func checkResult(t *testing.T, r *match.Result) {
	t.Helper()
	for _, n := range []match.Count{r.Sends, r.Receives, r.Probes, r.Collectives, r.Requests, r.Epochs, r.Locks} {
		left := n.Matched
		for _, x := range n.Left {
			left += x
		}
		if left != n.Calls {
			t.Fatalf("%+v", r)
		}
	}
	for _, w := range r.Waits {
		if w.T <= 0 || w.Count == 0 {
			t.Fatalf("%+v", w)
		}
	}
}
