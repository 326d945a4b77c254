package sampling

import (
	"slices"
	"strings"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// A profile tells how its process was sampled: what was taken, what was lost and what is missing.
// It also tells how often the kernel has throttled the event since the measurement of the process
// began.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		name     string
		sampler  Sampler
		process  Process
		arch     string
		counted  bool
		want     profile.Sampling
		warnings []string // the beginning of each
	}{
		{name: "as asked for",
			sampler: Sampler{as: profile.Sampling{Event: "task-clock", Unit: "ns", Frequency: 199}},
			want:    profile.Sampling{Event: "task-clock", Unit: "ns", Frequency: 199, Taken: 5}},
		{name: "slowed, late, with losses",
			sampler:  Sampler{as: profile.Sampling{Event: "cycles", Period: 20}, limit: limit{told: "fewer are taken"}, throttled: 9},
			process:  Process{Lost: 2, Late: 1_500_000_000, throttled: 4},
			arch:     "x86_64",
			counted:  true,
			want:     profile.Sampling{Event: "cycles", Period: 20, Taken: 5, Lost: 2, Throttled: 5},
			warnings: []string{"Fewer are taken.", "Samples of this process begin 1.50 s after its start"}},
		{name: "counters on arm64",
			sampler:  Sampler{as: profile.Sampling{Event: "cycles"}},
			arch:     "aarch64",
			counted:  true,
			want:     profile.Sampling{Event: "cycles", Taken: 5},
			warnings: []string{"Samples by cycles may be missing"}},
		{name: "task-clock on arm64",
			sampler: Sampler{as: profile.Sampling{Event: "task-clock", Unit: "ns"}},
			arch:    "aarch64",
			counted: true,
			want:    profile.Sampling{Event: "task-clock", Unit: "ns", Taken: 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := profile.Profile{Samples: []profile.Sample{{Count: 2}, {Count: 3}}}
			p.Meta.Arch = c.arch
			c.sampler.Describe(&p, &c.process, c.counted)
			if p.Meta.Sampling != nil {
				t.Errorf("%+v of a measurement that samples nothing", p.Meta.Sampling)
			}
			c.sampler.kernel = &bpf.Sampler{}
			c.sampler.Describe(&p, &c.process, c.counted)
			if *p.Meta.Sampling != c.want {
				t.Errorf("%+v, want %+v", *p.Meta.Sampling, c.want)
			}
			if !slices.EqualFunc(p.Warnings, c.warnings, strings.HasPrefix) {
				t.Errorf("warnings %q, want %q", p.Warnings, c.warnings)
			}
		})
	}
}

// The user is told once that samples come too fast; the profile tells the last period.
func TestSlow(t *testing.T) {
	s := Sampler{as: profile.Sampling{Period: 1}}
	if !s.Slow(10) || s.Slow(40) {
		t.Error("the first of two is not the one that is told")
	}
	if s.as.Period != 40 || !strings.HasSuffix(s.Told(), "one is taken every 40 times now") {
		t.Errorf("period %d, told %q", s.as.Period, s.Told())
	}
}

// Modules are listed anew only for a sample outside of all of them, and not for each such sample.
func TestUnlisted(t *testing.T) {
	mods := []symbols.Module{{Start: 0x5000, End: 0x9000}}
	var p Process
	for n, c := range []struct {
		ip   uint64
		want bool
	}{{0x6000, false}, {0x4000, true}, {0x4000, false}} {
		var r bpf.SampleRecord
		if r.Ip = c.ip; p.Unlisted(mods, &r) != c.want {
			t.Errorf("sample %d at %#x: %v, want %v", n, c.ip, !c.want, c.want)
		}
	}
}

// A process may have run before it is measured: what is known of that stays.
func TestMeasures(t *testing.T) {
	s, p := Sampler{throttled: 7}, Process{Late: 5, Lost: 1}
	if s.Measures(&p); p.Late != 5 || p.Lost != 1 || p.throttled != 7 || p.returned == nil {
		t.Errorf("%+v", p)
	}
}
