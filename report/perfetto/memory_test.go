package perfetto

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"ompp-attach/timeline"
)

// meter is a writer that takes the memory in use now and then.
type meter struct {
	bytes, next int64
	most        uint64
}

// Write implements io.Writer.
func (m *meter) Write(b []byte) (int, error) {
	if m.bytes += int64(len(b)); m.bytes >= m.next {
		m.next = m.bytes + 4<<20
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		m.most = max(m.most, s.HeapAlloc)
	}
	return len(b), nil
}

// TestMemory: the memory that a trace takes does not grow with its slices. SLICES gives another
// number, as 10000000.
func TestMemory(t *testing.T) {
	many := 400_000
	if n, err := strconv.Atoi(os.Getenv("SLICES")); err == nil {
		many = n
	}
	var most [2]uint64
	for i, n := range []int{many / 8, many} {
		f := onDisk(t, n)
		m := &meter{}
		if _, err := Write(m, []*timeline.File{f}, func(_ *timeline.File, d *timeline.DamageError) { t.Error(d) }); err != nil {
			t.Fatal(err)
		}
		most[i] = m.most
		t.Logf("%d slices: %d bytes are written, at most %d bytes of memory in use", n, m.bytes, m.most)
	}
	// What is held of each chunk of the file is counted in: some hundred bytes for 64 KiB.
	if most[1] > most[0]+8<<20 {
		t.Errorf("%d bytes of memory for %d slices, %d for %d", most[1], many, most[0], many/8)
	}
}

// onDisk returns a timeline of n slices that is read from a file.
func onDisk(t *testing.T, n int) *timeline.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.timeline")
	to, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	rec := recording(t, nil)
	for i := range n {
		from := 2000 + uint64(i)*100
		s := ran(1, from, from+uint64(i)%90)
		rec.Span(&s)
	}
	ended(rec)
	if err := rec.Save(to); err != nil {
		t.Fatal(err)
	}
	st, err := to.Stat()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() })
	f, err := timeline.Read(to, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return f
}
