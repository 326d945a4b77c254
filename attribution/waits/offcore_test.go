package waits

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"ompp-attach/attribution/tree"
	"ompp-attach/profile"
)

func window(n *tree.Node, from, to uint64) Wait {
	return Wait{Node: n, Reason: AtBarrier, From: from, To: to, T: int64(to - from)}
}

// A wait that is asked for before its end was read is divided when it has been. A wait that the log
// does not reach back to never is.
func TestWindowsWait(t *testing.T) {
	l, n := &OffCoreTimes{}, &tree.Node{}
	l.Seen(100)
	l.Ask(window(n, 50, 200))
	l.Ask(window(n, 300, 400))
	if n.Stats != nil {
		t.Fatal("divided too early")
	}
	l.Add(OffCore{From: 150, Woken: 180, To: 220, Rival: -1})
	if got, want := n.Stat(0).Sched.Wait, (profile.OffCore{T: 150, Asleep: 30, Late: 20}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	l.Forget(310)
	l.Seen(500)
	if got := n.Stat(0).Sched.Wait.T; got != 150 {
		t.Errorf("a wait that began before a loss was divided: %d ns", got)
	}
}

// However many times a thread was off its core: of a wait around all of them the sum is exact. Of
// any other one the parts are no more than the wait.
func TestManyAways(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l, n := &OffCoreTimes{}, &tree.Node{}
	var want profile.OffCore
	at := uint64(1000)
	for range 3000 {
		a := OffCore{From: at + 1 + r.Uint64N(50), Rival: r.IntN(5), Moves: uint32(r.IntN(2))}
		a.To = a.From + 1 + r.Uint64N(100)
		if r.IntN(2) == 0 {
			a.Woken = a.From + r.Uint64N(a.To-a.From+1)
			want.Asleep += int64(a.Woken - a.From)
			want.Late += int64(a.To - a.Woken)
		} else {
			want.Preempted += int64(a.To - a.From)
		}
		want.Moves += uint64(a.Moves)
		l.Add(a)
		at = a.To
	}
	l.Seen(at + 10)
	l.Ask(window(n, 1000, at+10))
	want.T = int64(at + 10 - 1000)
	if got := n.Stat(0).Sched.Wait; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(l.times) > maxTimes {
		t.Errorf("%d times are kept", len(l.times))
	}
}

// Whatever the kernel side writes: the parts of a wait are not negative, and no more than the wait.
func FuzzLog(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25})
	f.Fuzz(func(t *testing.T, b []byte) {
		l, n := &OffCoreTimes{}, &tree.Node{}
		word := func() (v uint64) {
			var w [8]byte
			k := copy(w[:], b)
			b = b[k:]
			return binary.LittleEndian.Uint64(w[:])
		}
		for len(b) > 0 {
			kind := b[0]
			b = b[1:]
			switch kind % 4 {
			case 0, 1:
				l.Add(OffCore{From: word() >> 2, Woken: word() >> 2, To: word() >> 2, Rival: int(int8(kind)), ByRival: int64(word()), Foreign: int64(word())})
			case 2:
				if from, to := word()>>2, word()>>2; from < to {
					l.Ask(window(n, from, to))
				}
			default:
				l.Seen(word() >> 2)
			}
		}
		if len(n.Stats) == 0 || n.Stats[0].Sched == nil {
			return
		}
		o := &n.Stats[0].Sched.Wait
		for _, v := range []int64{o.Asleep, o.Late, o.Preempted, o.Foreign} {
			if v < 0 && o.T >= 0 { // sums may overflow
				t.Errorf("%+v", *o)
			}
		}
		if o.T >= 0 && (o.OnCore() < 0 || o.Foreign > o.Ready()) {
			t.Errorf("%+v", *o)
		}
	})
}
