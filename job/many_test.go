package job

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"ompp-attach/attribution/streamtest"
	"ompp-attach/event"
	"ompp-attach/profile"
)

var manyRanks = flag.Int("ranks", someRanks, "how many ranks TestManyRanks merges")

// replica returns a profile that a rank could have recorded: a recorded profile, cut to 20 regions
// of OpenMP, widened to 8 threads, and with MPI call sites. Times and counts vary with the rank.
func replica(base *profile.Profile, rank, size int) *profile.Profile {
	p := *base
	p.Meta.PID, p.Meta.Host = 1000+rank, fmt.Sprintf("node%04d", rank/8)
	p.Meta.MPI = &profile.MPIJob{Library: "Open MPI 4.1.4", Rank: rank, Size: size}
	vary := uint64(rank)*2654435761 + 1
	p.Nodes = make([]profile.Node, len(base.Nodes))
	for i, n := range base.Nodes {
		p.Nodes[i] = profile.Node{Parent: n.Parent, Region: n.Region, Stats: append([]profile.ThreadStats(nil), n.Stats...)}
		for j := range p.Nodes[i].Stats {
			vary = vary*6364136223846793005 + 1442695040888963407
			s := &p.Nodes[i].Stats[j]
			more := int64(vary >> 50) // up to 16 µs
			s.Exec.T, s.Body.T = s.Exec.T+more, s.Body.T+more
			if m := s.MPI; m != nil {
				varied := *m
				varied.T += more
				s.MPI = &varied
			}
		}
	}
	return &p
}

// recordedBase returns the profile that replicas are made of.
func recordedBase(t testing.TB) *profile.Profile {
	t.Helper()
	p := streamtest.Replay(t, "../testdata/streams/gomp-constructs.json.gz")
	p.Meta.Program = "constructs"
	p.Meta.Start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	const regions, threads = 20, 8
	keep := map[*profile.Region]bool{}
	for i := range min(regions, len(p.Regions)) {
		keep[&p.Regions[i]] = true
	}
	profile.Hide(p, func(r *profile.Region) bool { return !keep[r] })
	recorded := len(p.Threads)
	for n := recorded; n < threads; n++ {
		p.Threads = append(p.Threads, profile.Thread{Num: n, TIDs: []int{5000 + n}})
	}
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Stats {
			for s.Thread += recorded; s.Thread < threads; s.Thread += recorded {
				p.Nodes[i].Stats = append(p.Nodes[i].Stats, s)
			}
		}
	}
	var all *profile.MPIStats
	for i, op := range []string{"MPI_Allreduce", "MPI_Isend", "MPI_Irecv", "MPI_Waitall"} {
		p.Regions = append(p.Regions, profile.Region{Construct: event.MPI, Name: op,
			Location: profile.Location{File: "/src/halo.c", Begin: 40 + i, End: 40 + i, Function: "halo"}})
		m := &profile.MPIStats{T: 3e6, Calls: 100, Out: [2]uint64{1 << 20, 1 << 21}, In: [2]uint64{1 << 20, 1 << 20}, Sized: 100, Max: [2]uint64{1 << 15, 1 << 15}}
		p.Nodes = append(p.Nodes, profile.Node{Parent: 0, Region: len(p.Regions) - 1,
			Stats: []profile.ThreadStats{{Exec: profile.Sum{T: 3e6, C: 100}, Body: profile.Sum{T: 3e6, C: 100}, MPI: m}}})
		all = all.Plus(m)
	}
	p.Nodes[0].Stats = []profile.ThreadStats{{MPI: all}}
	return p
}

// TestManyRanks merges many ranks from files, and prints the time and the memory. The limits are
// for 10,000 ranks (-ranks 10000): 30 s on two cores, and 2 GB.
func TestManyRanks(t *testing.T) {
	dir := t.TempDir()
	base := recordedBase(t)
	var from []Source
	for r := range *manyRanks {
		name := filepath.Join(dir, FileName(r, 0))
		if err := os.WriteFile(name, encoded(t, replica(base, r, *manyRanks)), 0o644); err != nil {
			t.Fatal(err)
		}
		from = append(from, Source{Name: FileName(r, 0), Rank: r, Open: func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	for _, withPaths := range []bool{false, true} {
		// The limit is 60 s of processor time for 10,000 ranks, plus a constant tenth of a second.
		// Others that use the caches, or the other half of the core, make processor time longer. So
		// one of three tries has to keep to the limit. A merge that is too slow never does.
		most := slowed * (0.1 + 60*float64(*manyRanks)/10_000)
		var j *Job
		var wall, cpu time.Duration
		var peak int64
		for range 3 {
			forgetPeak(t)
			began, before := time.Now(), cpuTime()
			j = read(t, from, Options{Paths: withPaths})
			cpu, wall, peak = cpuTime()-before, time.Since(began), max(peak, peakMemory(t))
			if cpu.Seconds() <= most {
				break
			}
		}
		t.Logf("paths %t: %d ranks, %d regions, %d threads: %.2f s, %.2f s of CPU on %d cores, peak %d MiB", withPaths,
			len(j.Ranks), len(j.Regions), len(base.Threads), wall.Seconds(), cpu.Seconds(), runtime.GOMAXPROCS(0), peak>>20)
		if len(j.Ranks) != *manyRanks || len(j.Regions) != 24 || len(j.Troubles()) != 0 {
			t.Errorf("%d ranks, %d regions, troubles %q", len(j.Ranks), len(j.Regions), j.Troubles())
		}
		if cpu.Seconds() > most {
			t.Errorf("%.1f s of CPU, at most %.1f are allowed", cpu.Seconds(), most)
		}
		if peak > 2<<30 {
			t.Errorf("peak of %d bytes, at most 2 GB are allowed", peak)
		}
		if withPaths && len(j.Paths.Samples) > maxSamples {
			t.Errorf("%d samples, at most %d are allowed", len(j.Paths.Samples), maxSamples)
		}
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// forgetPeak lets the kernel measure the peak of memory anew (proc(5), clear_refs).
func forgetPeak(t *testing.T) {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("peak includes making the files: %v", err)
	}
}

func peakMemory(t *testing.T) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	if m == nil {
		t.Fatal("no VmHWM in /proc/self/status")
	}
	kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return kb << 10
}

func BenchmarkRank(b *testing.B) {
	data := encoded(b, replica(recordedBase(b), 3, 10))
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := profile.Decode(bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
		}
	})
	p, err := profile.Decode(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	r := reduce(p, "", 3, Options{Paths: true})
	b.Run("reduce", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			reduce(p, "", 3, Options{Paths: true})
		}
	})
	b.Run("merge", func(b *testing.B) {
		j := newJob()
		j.Paths = newPaths(maxSamples)
		for b.Loop() {
			r.rank.Rank++
			j.merge(r)
		}
	})
}
