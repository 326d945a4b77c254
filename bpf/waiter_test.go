package bpf

import (
	"testing"
	"time"
)

// wakeBytes is WAKE_BYTES of ring.h.
const wakeBytes = 512 << 10

// The reader is woken once each time that a thread has written wakeBytes more.
func TestReaderIsWokenAsRingsFill(t *testing.T) {
	const chunk, stretches = 128, 12
	p, rings, row := drivenProbes(t)
	w, err := p.Waiter()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d := startDrivers(p, 1)
	defer d.end()
	hits := series{steps: []step{{row: row}, {row: row, ret: true}}, count: chunk}
	woken := 0
	for range stretches * wakeBytes / (chunk * recordBytes) {
		if err := d.drive(1, hits); err != nil {
			t.Fatal(err)
		}
		early, err := w.Wait(time.Now().Add(time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if early {
			woken++
		}
	}
	if woken < stretches-2 || woken > stretches+2 {
		t.Errorf("woken %d times by %d times as many bytes", woken, stretches)
	}
	// A full ring of wakes would wake nobody any more.
	if left, _, err := w.wakes.read(stretches, func([]byte) error { return nil }); left > 1 || err != nil {
		t.Errorf("%d wakes are left in their ring, %v", left, err)
	}
	readAll(t, rings, map[uint32]*seen{})
}

func TestWaiterIsWokenByWake(t *testing.T) {
	p, _, _ := drivenProbes(t)
	w, err := p.Waiter()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	wait := func(d time.Duration) bool {
		t.Helper()
		early, err := w.Wait(time.Now().Add(d))
		if err != nil {
			t.Fatal(err)
		}
		return early
	}
	if wait(10 * time.Millisecond) {
		t.Error("woken by nobody")
	}
	w.Wake()
	if !wait(time.Minute) {
		t.Error("a wake before the wait is lost")
	}
	if wait(10 * time.Millisecond) {
		t.Error("woken twice by one")
	}
	time.AfterFunc(50*time.Millisecond, w.Wake)
	if !wait(time.Minute) {
		t.Error("a wake during the wait is lost")
	}
}
