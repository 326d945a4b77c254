package calibration

import (
	"encoding/binary"
	"io"
	"os"
	"testing"
)

func TestCallsIn(t *testing.T) {
	for _, w := range []struct {
		each float64
		want int
	}{
		{-1, 300}, {0, 300}, {3, 300}, {600, 300}, {1000, 300}, {2000, 150}, {6000, 50}, {1e6, 30},
	} {
		if got := callsIn(turnTime, w.each, leastCalls, mostCalls); got != w.want {
			t.Errorf("%v ns: %d calls, want %d", w.each, got, w.want)
		}
	}
}

// Hits that take longer are fewer, so that calibration does not take longer with them: neither the
// turns of one thread nor those of many.
func TestCrowdCalls(t *testing.T) {
	for _, w := range []struct {
		each float64 // ns
		want uint64  // calls in a turn
	}{{500, 500}, {6000, 50}} {
		in, commands := io.Pipe()
		out, answers, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var calls []uint64
		ended := make(chan struct{})
		go func() { // in place of the program
			defer close(ended)
			for c := make([]byte, commandBytes); ; {
				if _, err := io.ReadFull(in, c); err != nil {
					return
				}
				n := binary.NativeEndian.Uint64(c[8:])
				calls = append(calls, n)
				a := make([]byte, answerBytes)
				binary.NativeEndian.PutUint64(a[24:], n*uint64(w.each))
				_, _ = answers.Write(a)
			}
		}()
		r := &run{target: &target{in: commands, out: out}, ns: [][]float64{ignored: {w.each}}}
		c, err := r.takeCrowd()
		commands.Close()
		<-ended
		if err != nil {
			t.Fatal(err)
		}
		if c.Threads > 0 && (c.Alone != w.each || c.Each != w.each) {
			t.Errorf("%v ns: %+v", w.each, c)
		}
		for i, n := range calls {
			if i != crowdRounds && n != w.want { // there one call starts each of the threads
				t.Errorf("%v ns: %d calls in a turn, want %d", w.each, n, w.want)
			}
		}
		out.Close()
		answers.Close()
	}
}
