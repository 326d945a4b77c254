package attribution

import (
	"fmt"
	"testing"

	"ompp-attach/event"
)

// taskChunk are the events of a team's threads in one reading of their rings, by thread. Each
// creates a task, executes its neighbour's in a taskwait, and creates and executes one of its own
// within.
func taskChunk(threads, rounds int) (chunks [][]event.Event, length uint64) {
	const step = 1000
	for t := range threads {
		var s []event.Event
		at := uint64(0)
		put := func(c event.Construct, e event.Edge, key int) {
			at += step
			s = append(s, event.Event{Time: at + uint64(t), PID: initialThread, TID: uint32(initialThread + t), Construct: c,
				Edge: e, Runtime: event.Gomp, Fn: 0x4100, Site: 0x4020, SP: 0x7000, Key: uint64(key)})
		}
		create := func(key int) {
			put(event.Task, event.Enter, 0)
			put(event.Task, event.Result, key)
			put(event.Task, event.Released, 0)
			put(event.TaskWait, event.Wait, 0)
		}
		for range rounds {
			create(0x100 + t)
			put(event.TaskExec, event.Begin, 0x100+(t+1)%threads)
			create(0x1000 + t)
			put(event.TaskExec, event.Begin, 0x1000+t)
			put(event.TaskExec, event.End, 0x1000+t)
			put(event.TaskWait, event.Waited, 0)
			put(event.TaskExec, event.End, 0x100+(t+1)%threads)
			put(event.TaskWait, event.Waited, 0)
		}
		chunks, length = append(chunks, s), at
	}
	return chunks, length
}

// startTeam starts a team whose threads do not end.
func startTeam(e *Engine, threads int) {
	for i, ev := range regionStream(threads)[:1+threads] {
		ev.Time = uint64(i + 1)
		e.Feed(&ev)
	}
}

func BenchmarkTasks(b *testing.B) {
	for _, threads := range []int{2, 16, 128, 1000} {
		b.Run(fmt.Sprintf("%d threads", threads), func(b *testing.B) {
			e := New(initialThread, nowhere{})
			startTeam(e, threads)
			chunks, length := taskChunk(threads, 333)
			b.ReportAllocs()
			events, shift := 0, uint64(1000)
			for b.Loop() {
				for _, c := range chunks {
					for i := range c {
						ev := c[i]
						ev.Time += shift
						e.Feed(&ev)
					}
					events += len(c)
				}
				shift += length
				e.Advance(shift)
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
			if e.in.Partial > 0 || len(e.in.tasksByKey) > 2*threads {
				b.Errorf("%d partial, %d tasks not begun", e.in.Partial, len(e.in.tasksByKey))
			}
		})
	}
}
