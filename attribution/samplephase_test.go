package attribution

import (
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// sampleCase is a stream with samples and what they must become.
type sampleCase struct{ name, events, want string }

var sampleCases = []sampleCase{
	{"behind a loop's share, before its barrier: the region's", `
0 1 fork parallel fn=300 key=7 size=1
0 1 begin parallel
5 1 open loop site=500 loc=600 rt
20 1 close loop rt
22 1 sampled none site=61
25 1 wait barrier loc=600 rt
27 1 sampled none site=62
30 1 waited barrier rt
40 1 end parallel
40 1 join parallel`, `
LOOP 0 "barrier" [62 800] 1 10
PARALLEL 0 "body" [61 800] 1 10`},
	{"a team's second execution does not have the first one's", `
0 1 fork parallel fn=300 key=7 size=2
1 1 begin parallel key=7 num=0 size=2
1 2 begin parallel key=7 num=1 size=2
10 2 end parallel key=7
12 2 sampled none site=61
20 1 end parallel key=7
22 1 join parallel key=7
30 1 fork parallel fn=300 key=7 size=2
31 1 begin parallel key=7 num=0 size=2
31 2 begin parallel key=7 num=1 size=2
40 2 end parallel key=7
50 1 end parallel key=7
52 1 join parallel key=7`, `
PARALLEL 1 "barrier" [61 800] 1 10`},
	{"at the very moment of the last arrival, and of the join: the barrier, the exit", `
0 1 fork parallel fn=300 key=7 size=2
1 1 begin parallel key=7 num=0 size=2
1 2 begin parallel key=7 num=1 size=2
10 2 end parallel key=7
20 1 end parallel key=7
20 2 sampled none site=61
22 2 sampled none site=62
22 1 join parallel key=7`, `
PARALLEL 1 "barrier" [61 800] 1 10
PARALLEL 1 "exit" [62 800] 1 10`},
	{"a worker whose primary thread is read up to the next region: idle", `
0 1 fork parallel fn=300 key=7 size=2
1 1 begin parallel key=7 num=0 size=2
1 2 begin parallel key=7 num=1 size=2
10 2 end parallel key=7
20 1 end parallel key=7
22 1 join parallel key=7
30 1 fork parallel fn=300 key=7 size=2
31 1 begin parallel key=7 num=0 size=2
28 2 sampled none site=61
31 2 begin parallel key=7 num=1 size=2
40 2 end parallel key=7
50 1 end parallel key=7
52 1 join parallel key=7`, `
program 1 "idle" [61 800] 1 10`},
	{"a thread whose place is known later", `
5 2 sampled none site=61
10 2 enter critical site=30 free noret
20 2 release critical free noret`, `
program 0 "" [61 800] 1 10`},
	{"switched off", `
5 1 enter lock site=30 fn=1 free noret
10 1 off user-region
10 1 sampled none site=61
20 1 sampled none site=62
60 1 on user-region
65 1 sampled none site=63
70 1 release lock fn=1 free noret`, `
LOCK 0 "body" [63 800] 1 10`},
	{"in a task of the runtime's own: what it was executed in", `
0 1 fork parallel fn=300 key=7 size=1
0 1 begin parallel
2 1 enter taskloop fn=321 site=40 rt
3 1 result task key=9 inside rt
4 1 begin taskexec key=9 rt
6 1 sampled none site=61
8 1 end taskexec key=9 rt
12 1 released taskloop
40 1 end parallel
40 1 join parallel`, `
TASKLOOP 0 "body" [61 800] 1 10`},
}

func TestSamplePhases(t *testing.T) {
	for _, c := range sampleCases {
		t.Run(c.name, func(t *testing.T) {
			want := strings.Split(strings.TrimSpace(c.want), "\n")
			if got := samplesOf(parse(t, c.events)); !slices.Equal(got, want) {
				t.Errorf("samples:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// uncharted knows no code.
type uncharted struct{ fakeFiles }

func (uncharted) Around(uint64) (profile.Region, bool) { return profile.Region{}, false }

func (uncharted) Code(uint64) []profile.Frame { return nil }

// Samples whose callers are not all known are told from the others; code that
// lies in no file keeps its address.
func TestSampleCutAndUnknown(t *testing.T) {
	e := New(1, uncharted{})
	for i, cut := range []bool{false, true, false} {
		e.Feed(&event.Event{TID: 1, Time: uint64(i), Edge: event.Sampled, Sample: &event.Sample{Stack: []uint64{7}, Weight: 1, Cut: cut}})
	}
	p := e.Finish(10)
	if len(p.Samples) != 2 || p.Samples[0].Count != 2 || p.Samples[0].Cut || !p.Samples[1].Cut {
		t.Errorf("%+v, want two in full, one cut", p.Samples)
	}
	if len(p.Frames) != 1 || p.Frames[0].Offset != 7 {
		t.Errorf("%+v, want the address", p.Frames)
	}
}
