package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// stage is one step of an event's way in user space.
type stage struct {
	name     string
	title    string
	millions spread // events per second and core, in millions
	allocs   int    // most allocations per benchmark loop
}

// recordingStage is the benchmark of recording a timeline.
const recordingStage = "Recording"

// stageTitles names the Go benchmarks that make up the way.
var stageTitles = [][2]string{
	{"Drain", "record from a ring that the kernel side has filled (`bpf`)"},
	{"Event", "record to event (`probes`)"},
	{"Engine/criticals", "engine: criticals, half of them contended (`attribution`)"},
	{"Engine/regions", "engine: regions of 4 threads with loop and barriers"},
	{"Engine/mixed", "engine: both"},
	{"Producers/64_threads", "engine: regions of 64 threads with loop and barriers"},
	{"Producers/256_ranks", "engines: 256 ranks of 2 threads with messages, reductions and regions"},
	{recordingStage, "spans of a timeline: engine, recorder, compression and file on one core, nothing lost"},
}

func measureStages() ([]stage, error) {
	const pgo = "-pgo=cmd/ompp-attach/default.pgo" // as the tool is built
	cmd := exec.Command("go", "test", pgo, "-run=^$", "-bench=^(BenchmarkDrain|BenchmarkEvent|BenchmarkEngine|BenchmarkProducers|BenchmarkRecording)$",
		"-benchtime=300ms", "-count="+strconv.Itoa(*rounds), "-p=1", "./bpf", "./probes/gomp", "./attribution")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	rates, allocs, err := parseBenchmarks(out)
	if err != nil {
		return nil, err
	}
	var stages []stage
	for _, t := range stageTitles {
		v := rates[t[0]]
		if len(v) == 0 {
			return nil, fmt.Errorf("no figures of Benchmark%s in\n%s", t[0], out)
		}
		stages = append(stages, stage{name: t[0], title: t[1], millions: spreadOf(v), allocs: allocs[t[0]]})
	}
	return stages, nil
}

// parseBenchmarks reads lines "BenchmarkX-2  N  1.2 ns/op  34 Mevents/s  0
// B/op  0 allocs/op".
func parseBenchmarks(out []byte) (rates map[string][]float64, allocs map[string]int, err error) {
	rates, allocs = map[string][]float64{}, map[string]int{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i]
		}
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, nil, fmt.Errorf("benchmark line %q: %w", s.Text(), err)
			}
			switch f[i+1] {
			case "Mevents/s", "Mspans/s":
				rates[name] = append(rates[name], v)
			case "allocs/op":
				allocs[name] = max(allocs[name], int(v))
			}
		}
	}
	return rates, allocs, nil
}
