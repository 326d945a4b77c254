package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/internal/hostile"
)

// recordSample has every field of Profile set, so that a field that is not recorded fails the round
// trip.
func recordSample() *Profile {
	return &Profile{
		Version: SchemaVersion,
		Meta: Meta{Target: Target{Program: "app", Path: "/usr/bin/app", Args: []string{"app", "<in>", "ü&"}, PID: 4711},
			Machine: Machine{Host: "node1", Kernel: "6.1.0", Arch: "x86_64"},
			Life:    Life{Start: time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 7200)), Duration: 1<<62 + 1, UserTime: 2, SysTime: 3, Attached: true, Ended: "exit 0"},
			Writer:  Writer{Tool: "0.1.0", Built: "2024-05-01"},
			Trust:   Trust{Hits: 1<<64 - 1, LostHits: 4, Unmatched: 5, Partial: 6, Edges: Edges{All: 9, Derived: 7}}, HasTasks: true,
			Runtimes: []Runtime{{Name: "libgomp", Path: "/lib/libgomp.so.1", Version: "12.2", BuildID: "ab12",
				Probes: 50, Missing: []string{"GOMP_barrier: no such symbol"}}},
		},
		Threads: []Thread{{Root: 0, Num: 0, TIDs: []int{10}}, {Root: 1, Num: 1, TIDs: []int{11, 12}}},
		Regions: []Region{
			{Construct: event.Parallel, Runtime: "libgomp", Location: Location{File: "/src/a.c", Begin: 3, End: 9,
				EndMark: Approx, Function: "f", Object: "/usr/bin/app", Offset: 0x1234, Mark: Approx},
				Notes: []string{"A note."}, Lossy: 7},
			{Construct: event.Critical, Name: "c"},
		},
		Nodes: []Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0, Stats: []ThreadStats{
			{Thread: 0, Exec: Sum{10, 1}, Enter: Sum{1, 2}, Body: Sum{6, 3}, Barrier: Sum{2, 4},
				Exit: Sum{1, 5}, Child: 3, Task: 1},
			{Thread: 1, Exec: Sum{10, 1}}}},
			{Parent: 1, Region: 1, Stats: []ThreadStats{{Thread: 1, Exec: Sum{3, 2}}}}},
		Lost:     []Loss{{Region: -1, Thread: 0, Events: 3}, {Region: 1, Thread: 1, Events: 4}},
		Unseen:   []Unseen{{What: "ATOMIC", Reason: "Compiled to one instruction."}},
		Warnings: []string{"A warning."},
	}
}

func recorded(t testing.TB, p *Profile) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Encode(&buf, p); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gzipped(text string) []byte {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	io.WriteString(zw, text)
	zw.Close()
	return buf.Bytes()
}

func TestRoundTrip(t *testing.T) {
	want := recordSample()
	got, err := Decode(bytes.NewReader(recorded(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("decoded profile differs (-want +got):\n%s", d)
	}
}

func TestEncodeStampsVersion(t *testing.T) {
	p := recordSample()
	p.Version = 0
	got, err := Decode(bytes.NewReader(recorded(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Version != SchemaVersion || p.Version != 0 {
		t.Errorf("recorded version %d, caller's version now %d; want %d and 0", got.Version, p.Version, SchemaVersion)
	}
}

func TestDecodeErrors(t *testing.T) {
	whole := recorded(t, recordSample())
	badSum := bytes.Clone(whole)
	badSum[len(badSum)-6] ^= 0xff // within the CRC of the gzip trailer
	badBlock := bytes.Clone(whole)
	badBlock[10] = 0x07 // deflate block type 3 does not exist
	const nodes = `"nodes":[{"parent":-1,"region":-1}`
	for _, tt := range []struct {
		name string
		data []byte
		want error
		text string
	}{
		{"empty", nil, ErrTruncated, "it is empty"},
		{"cut in gzip header", whole[:5], ErrTruncated, "gzip header"},
		{"cut in data", whole[:len(whole)/2], ErrTruncated, "ends early"},
		{"cut in trailer", whole[:len(whole)-1], ErrTruncated, "ends early"},
		{"plain text", []byte("ompP General Information\n"), ErrNotProfile, "not gzip data"},
		{"short text", []byte("time\n"), ErrNotProfile, "not gzip data"},
		{"wrong checksum", badSum, ErrNotProfile, "checksum"},
		{"damaged block", badBlock, ErrNotProfile, "corrupt"},
		{"gzip of text", gzipped("hello"), ErrNotProfile, "invalid character"},
		{"gzip of nothing", gzipped(""), ErrNotProfile, "JSON"},
		{"short JSON", gzipped(`{"version":1,"meta":{`), ErrTruncated, "JSON ends early"},
		{"other JSON", gzipped(`{"a":1}`), ErrNotProfile, "states no version"},
		{"JSON list", gzipped(`[1]`), ErrNotProfile, "cannot unmarshal"},
		{"null", gzipped(`null`), ErrNotProfile, "states no version"},
		{"two objects", gzipped(`{"version":1} {}`), ErrNotProfile, "after top-level value"},
		{"newer", gzipped(`{"version":99,"nodes":"quite different"}`), ErrNewerVersion, "version 99"},
		{"version 0", gzipped(`{"version":0}`), ErrNotProfile, "version 0"},
		{"no nodes", gzipped(`{"version":1}`), ErrNotProfile, "no root node"},
		{"root has a parent", gzipped(`{"version":1,"nodes":[{"parent":0,"region":-1}]}`), ErrNotProfile, "not the root"},
		{"parent after child", gzipped(`{"version":1,"regions":[{"construct":"LOOP"}],` + nodes + `,{"parent":2,"region":0},{"parent":0,"region":0}]}`), ErrNotProfile, "node 1 has parent 2"},
		{"own parent", gzipped(`{"version":1,"regions":[{"construct":"LOOP"}],` + nodes + `,{"parent":1,"region":0}]}`), ErrNotProfile, "node 1 has parent 1"},
		{"second root", gzipped(`{"version":1,` + nodes + `,{"parent":-1,"region":-1}]}`), ErrNotProfile, "node 1 has parent -1"},
		{"region out of range", gzipped(`{"version":1,` + nodes + `,{"parent":0,"region":0}]}`), ErrNotProfile, "names region 0 of 0"},
		{"thread out of range", gzipped(`{"version":1,"nodes":[{"parent":-1,"region":-1,"stats":[{"thread":0}]}]}`), ErrNotProfile, "names thread 0 of 0"},
		{"negative thread", gzipped(`{"version":1,"threads":[{"num":-2}],` + nodes + `]}`), ErrNotProfile, "negative number"},
		{"loss of unknown region", gzipped(`{"version":1,"lost":[{"region":0}],` + nodes + `]}`), ErrNotProfile, "loss 0 names region"},
		{"loss on unknown thread", gzipped(`{"version":1,"lost":[{"region":-1,"thread":3}],` + nodes + `]}`), ErrNotProfile, "loss 0 names thread"},
		{"unknown construct", gzipped(`{"version":1,"regions":[{"construct":"WARP"}],` + nodes + `]}`), ErrNotProfile, "unknown construct WARP"},
		{"no construct", gzipped(`{"version":1,"regions":[{}],` + nodes + `]}`), ErrNotProfile, "no known construct"},
		{"negative line", gzipped(`{"version":1,"regions":[{"construct":"LOOP","location":{"begin":-1}}],` + nodes + `]}`), ErrNotProfile, "negative line"},
		{"negative duration", gzipped(`{"version":1,"meta":{"duration_ns":-1},` + nodes + `]}`), ErrNotProfile, "duration is negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Decode(bytes.NewReader(tt.data))
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %q with %q", err, tt.want, tt.text)
			}
			if p != nil || err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("want no profile and one line, got %v and %q", p, err)
			}
		})
	}
}

func TestDecodePassesReadErrorsOn(t *testing.T) {
	whole, broken := recorded(t, recordSample()), errors.New("disk on fire")
	for _, cut := range []int{0, len(whole) / 2} {
		r := io.MultiReader(bytes.NewReader(whole[:cut]), iotest.ErrReader(broken))
		if _, err := Decode(r); !errors.Is(err, broken) {
			t.Errorf("read fails after %d bytes: got %v, want %v", cut, err, broken)
		}
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	p := recordSample()
	p.Nodes[2].Parent = 2
	var buf bytes.Buffer
	if err := Encode(&buf, p); err == nil || buf.Len() != 0 {
		t.Errorf("got %v and %d bytes, want an error and nothing written", err, buf.Len())
	}
	p = recordSample()
	p.Regions[0].Construct = 255
	if err := Encode(&buf, p); err == nil {
		t.Error("a region of construct 255 was recorded")
	}
}

// FuzzDecode gives Decode arbitrary bytes, as they are and as the content of sound gzip data, which
// a fuzzer does not find. A profile that Decode accepts must be the same after recording.
func FuzzDecode(f *testing.F) {
	whole := recorded(f, recordSample())
	zr, _ := gzip.NewReader(bytes.NewReader(whole))
	text, _ := io.ReadAll(zr)
	f.Add(whole, false)
	f.Add(whole[:len(whole)/2], false)
	f.Add(text, true)
	f.Add([]byte(`{"version":1,"nodes":[{"parent":-1,"region":-1}]}`), true)
	f.Fuzz(func(t *testing.T, data []byte, pack bool) {
		if pack {
			data = gzipped(string(data))
		}
		var p *Profile
		var err error
		hostile.Within(func() { p, err = Decode(bytes.NewReader(data)) })
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := Encode(&once, p); err != nil {
			t.Fatalf("cannot record what was decoded: %v", err)
		}
		again, err := Decode(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("cannot decode what was recorded: %v", err)
		}
		if err := Encode(&twice, again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Error("recording a decoded profile twice gives two different files")
		}
	})
}
