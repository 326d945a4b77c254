package timeline

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/internal/hostile"
)

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]error{"": ErrNotTimeline, "OMPPT": ErrNotTimeline, "something else": ErrNotTimeline, mark + "\x03": ErrNewerVersion} {
		if _, err := Read(strings.NewReader(text), int64(len(text))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if f := read(t, []byte(mark+"\x01")); !f.Torn || f.First() != 0 || f.Last() != 0 {
		t.Errorf("an empty timeline: %+v", f)
	}
}

// TestDamaged: a chunk that is damaged is missing, and said; the others are read.
func TestDamaged(t *testing.T) {
	spans := invented(rand.New(rand.NewPCG(3, 4)), 100_000, 1)
	r := recorder(t, Options{Plan: Plan{Cap: 1 << 30}, Wait: true})
	for i := range spans {
		r.Span(&spans[i])
	}
	r.End(dictionary(1))
	b := save(t, r)
	f := read(t, b)
	c := f.chunks[100][len(f.chunks[100])/2]
	b[c.at+int64(c.size)-1] ^= 1
	bad, n := 0, uint64(0)
	for _, err := range f.Thread(100) {
		if err != nil {
			bad++
		} else {
			n++
		}
	}
	if bad != 1 || n != uint64(len(spans))-c.spans {
		t.Errorf("%d errors, %d of %d spans", bad, n, len(spans))
	}
}

// TestDamagedOnDisk: of a file with damaged chunks all others are read, and gaps near their times
// stand for the missing ones.
func TestDamagedOnDisk(t *testing.T) {
	spans := invented(rand.New(rand.NewPCG(3, 4)), 100_000, 1)
	r := recorder(t, Options{Plan: Plan{Cap: 1 << 30}, Wait: true})
	for i := range spans {
		r.Span(&spans[i])
	}
	r.End(dictionary(1))
	whole := save(t, r)
	chunks := read(t, whole).chunks[100]
	for name, at := range map[string]func(c place) int64{
		"its thread": func(c place) int64 { return c.at }, "its times": func(c place) int64 { return c.at + 2 },
		"its spans": func(c place) int64 { return c.at + int64(c.size)/2 }, "its sum": func(c place) int64 { return c.at - 1 },
	} {
		for _, i := range []int{0, len(chunks) / 2, len(chunks) - 1} {
			b, c := bytes.Clone(whole), chunks[i]
			b[at(c)] ^= 0xff
			f := read(t, b)
			n := uint64(len(all(t, f)))
			if f.Torn || f.Damaged() != 1 || n != uint64(len(spans))-c.spans {
				t.Errorf("%s of chunk %d: torn %v, %d damaged, %d of %d spans", name, i, f.Torn, f.Damaged(), n, len(spans))
			}
			if len(f.Gaps) != 1 || f.Gaps[0].Why != ByDamage || f.Gaps[0].Spans != 0 || f.Gaps[0].From > c.last || f.Gaps[0].To < c.first || f.Last() > chunks[len(chunks)-1].last {
				t.Errorf("%s of chunk %d, from %d to %d: gaps %+v", name, i, c.first, c.last, f.Gaps)
			}
		}
	}
}

func TestParsePlan(t *testing.T) {
	for text, want := range map[string]Plan{
		"last:30s":             {Last: 30 * time.Second, Cap: defaultCap},
		"last:30s,16M":         {Last: 30 * time.Second, Cap: 16 << 20},
		"first:1m":             {To: time.Minute, Cap: defaultCap},
		"from:100s,for:10s,1g": {From: 100 * time.Second, To: 110 * time.Second, Cap: 1 << 30},
		"from:100s":            {From: 100 * time.Second, Cap: defaultCap},
		"all, 4G":              {Stream: true, Cap: 4 << 30},
		"worst:20":             {Longest: 20, Cap: defaultCap},
		"worst:1,8M":           {Longest: 1, Cap: 8 << 20},
	} {
		if p, err := ParsePlan(text); err != nil || *p != want {
			t.Errorf("%s: %+v, %v, want %+v", text, p, err, want)
		}
	}
	for _, text := range []string{"", "last", "last:x", "last:-3s", "last:0s", "all:3s", "all,first:3s", "for:3s", "first:3s,for:3s",
		"last:3s,1M", "last:3s,5G,6G", "last:3s,last:4s", "last:3s,99999999999G", "16M", "all,-5M",
		"worst", "worst:0", "worst:-1", "worst:2.5", "worst:1001", "worst:20,last:3s", "worst:20,for:3s", "worst:3,worst:4"} {
		if p, err := ParsePlan(text); err == nil {
			t.Errorf("%q is taken as %+v", text, p)
		} else if !strings.Contains(err.Error(), "--timeline") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestMonotonic(t *testing.T) {
	d := Dictionary{Stops: event.Stops{{From: 100, To: 150}, {From: 300, To: 400}}}
	for at, want := range map[uint64]uint64{50: 50, 99: 99, 100: 150, 120: 170, 249: 299, 250: 400, 260: 410} {
		if got := d.Monotonic(at); got != want {
			t.Errorf("%d is %d, want %d", at, got, want)
		}
	}
}

// FuzzRead: whatever is read, nothing fails but by an error, and spans are in order.
func FuzzRead(f *testing.F) {
	r := recorder(f, Options{Plan: Plan{Cap: 1 << 30}, Wait: true})
	spans := invented(rand.New(rand.NewPCG(9, 9)), 300, 2)
	for i := range spans {
		r.Span(&spans[i])
	}
	r.End(dictionary(2))
	b := save(f, r)
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		hostile.Within(func() {
			file, err := Read(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				return
			}
			for _, tid := range file.TIDs() {
				last := uint64(0)
				for s, err := range file.Thread(tid) {
					if err != nil {
						continue
					}
					if s.From < last || s.To < s.From || s.Node <= 0 || int(s.Node) >= len(file.Dictionary.Nodes) || int(s.Thread) >= len(file.Dictionary.Threads) {
						t.Fatalf("%+v comes behind %d", s, last)
					}
					last = s.From
				}
			}
		})
	})
}

// FuzzSpans: the decoder of a chunk takes any bytes.
func FuzzSpans(f *testing.F) {
	spans := invented(rand.New(rand.NewPCG(9, 9)), 300, 2)
	var st state
	var b []byte
	rnd := rand.New(rand.NewPCG(1, 9))
	for i := range spans {
		if i > 200 {
			spans[i].Counts = inventedCounts(rnd)
		}
		b = st.put(b, &spans[i])
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		hostile.Within(func() {
			var st, again state
			var out []byte
			n := 0
			in := source{b: b}
			var first []Span
			for len(in.b) > 0 {
				var s Span
				if st.take(&in, &s) != nil {
					break
				}
				first = append(first, s)
				out = again.put(out, &s)
				n++
			}
			// What was understood is written and read again as it was.
			st = state{}
			in = source{b: out}
			for i := range n {
				var s Span
				if err := st.take(&in, &s); err != nil || !reflect.DeepEqual(s, first[i]) {
					t.Fatalf("span %d is %+v, was %+v: %v", i, s, first[i], err)
				}
			}
		})
	})
}

// BenchmarkSpan: what recording an execution costs the engine's goroutine.
func BenchmarkSpan(b *testing.B) {
	r := recorder(b, Options{Plan: Plan{Cap: 256 << 20, Last: 30 * time.Second}, Wait: true})
	spans := invented(rand.New(rand.NewPCG(1, 1)), 4096, 4)
	at := uint64(0)
	for i := 0; b.Loop(); i++ {
		s := spans[i%len(spans)]
		at += 1000
		s.From, s.To = s.From+at, s.To+at
		r.Span(&s)
	}
	r.End(dictionary(4))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mspans/s")
}
