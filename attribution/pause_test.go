package attribution

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

var pauseCases = []engineCase{
	{name: "off and on outside of teams: what is open stays open, without the time",
		events: `
		0 1 enter user-region site=500 sp=9000 v=2
		5 1 enter user-region site=510 sp=9000 v=2
		10 1 off user-region
		60 1 on user-region
		70 1 fork parallel fn=300 key=7 size=1 site=90
		70 1 begin parallel
		75 1 end parallel
		75 1 join parallel
		78 1 release user-region site=510 sp=9000 v=2
		80 1 release user-region site=500 sp=9000 v=2`,
		want: `USER REGION@500 0:0 exec 30/1 enter 0 body 30/1 bar 0 exit 0 child 23
		       USER REGION@500/USER REGION@510 0:0 exec 23/1 enter 0 body 23/1 bar 0 exit 0 child 5
		       USER REGION@500/USER REGION@510/PARALLEL@300 0:0 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0`},
	{name: "off to the end",
		end:     100,
		partial: 1,
		events: `
		0 1 enter user-region site=500 sp=9000 v=2
		10 1 off user-region`,
		want: `USER REGION@500 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0`},
	{name: "on without off",
		events: `
		0 1 on user-region
		10 1 enter critical site=400 free noret
		20 1 release critical free noret`,
		want: `CRITICAL@400 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0`},
	{name: "a worker that was late in a region that began while it was off is no initial thread",
		partial:   1,
		unmatched: 1,
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		10 1 end parallel
		10 2 end parallel
		10 1 join parallel
		20 1 off user-region
		30 1 on user-region
		40 2 begin parallel key=7 num=1
		50 2 enter critical site=400 free noret
		55 2 release critical free noret
		60 2 end parallel
		70 1 off user-region
		80 1 on user-region
		90 2 enter critical site=400 free noret
		95 2 release critical free noret
		99 2 end parallel`,
		want: `PARALLEL@300 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       PARALLEL@300 0:1 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       UNDER WAY@0 0:1 exec 20/1 enter 0 body 20/0 bar 0 exit 0 child 5
		       UNDER WAY@0/CRITICAL@400 0:1 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0
		       CRITICAL@400 0:1 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0`},
	{name: "off in a region, on behind it: as at attach",
		partial: 1,
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		10 1 off user-region
		60 1 on user-region
		70 1 fork parallel fn=310 key=7 size=1 site=90
		70 1 begin parallel
		75 1 end parallel
		75 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       PARALLEL@310 0:0 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0`},
}

// A pause from outside, in the middle of a team; threads keep their seats.
func TestPause(t *testing.T) {
	e := New(1, fakeFiles{})
	feed := func(text string) {
		for _, ev := range parse(t, text) {
			e.Feed(&ev)
		}
	}
	feed(twoThreads)
	feed(`
		200 5 fork parallel fn=320 key=9 size=1 site=90
		200 5 begin parallel
		210 5 end parallel
		210 5 join parallel
		300 1 fork parallel fn=300 key=7 size=2 site=90
		300 1 begin parallel
		300 2 begin parallel key=7 num=1`)
	e.Pause(350)
	e.Resume([]int{1, 2, 5}, 1000)
	feed(`
		1010 2 enter critical site=400 free noret
		1020 2 release critical free noret
		1050 1 join parallel
		1100 5 fork parallel fn=320 key=9 size=1 site=90
		1100 5 begin parallel
		1110 5 end parallel
		1110 5 join parallel
		1200 1 fork parallel fn=300 key=7 size=2 site=90
		1210 1 begin parallel
		1210 2 begin parallel key=7 num=1
		1250 1 end parallel
		1250 2 end parallel
		1260 1 join parallel`)
	p := e.Finish(2000)
	want := lines(`PARALLEL@300 0:0 exec 215/3 enter 15 body 140/3 bar 40 exit 20 child 0
		PARALLEL@300 0:1 exec 215/3 enter 25 body 170/3 bar 0 exit 20 child 0
		PARALLEL LOOP@320 1:0 exec 20/2 enter 0 body 20/2 bar 0 exit 0 child 0
		UNDER WAY@0/CRITICAL@400 0:-1 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0`)
	if d := cmp.Diff(want, table(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if off := (profile.Sum{T: 650, C: 1}); p.Meta.Off != off {
		t.Errorf("off %+v, want %+v", p.Meta.Off, off)
	}
}

// A worker's markers are read before the fork of the team that it is in: they
// act when its events are worked off. What lies behind them is fed then, and
// so is what another thread that waits has done since.
func TestMarkersOfAParkedThread(t *testing.T) {
	e := New(1, fakeFiles{})
	feed := func(text string) {
		for _, ev := range parse(t, text) {
			e.Feed(&ev)
		}
	}
	feed(`
		55 3 begin parallel key=9 num=1
		60 3 end parallel
		15 2 begin parallel key=7 num=1
		20 2 off user-region
		50 2 on user-region
		52 2 enter critical site=400 free noret
		57 2 release critical free noret
		10 1 fork parallel fn=300 key=7 size=2 site=90
		10 1 begin parallel
		16 1 enter critical site=410 free noret
		18 1 release critical free noret`)
	e.Advance(19)
	feed(`
		53 4 fork parallel fn=310 key=9 size=2 site=90
		53 4 begin parallel
		70 4 end parallel
		70 4 join parallel`)
	p := e.Finish(1000)
	want := lines(`PARALLEL@300 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 2
		PARALLEL@300 0:1 exec 10/1 enter 5 body 5/1 bar 0 exit 0 child 0
		PARALLEL@300/CRITICAL@410 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
		UNDER WAY@0 0:-1 exec 950/1 enter 0 body 950/0 bar 0 exit 0 child 5
		UNDER WAY@0 0:0 exec 950/1 enter 0 body 950/0 bar 0 exit 0 child 0
		UNDER WAY@0/CRITICAL@400 0:-1 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0
		PARALLEL@310 1:0 exec 17/1 enter 0 body 17/1 bar 0 exit 0 child 0
		PARALLEL@310 1:1 exec 17/1 enter 2 body 5/1 bar 10 exit 0 child 0`)
	if d := cmp.Diff(want, table(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if off := (profile.Sum{T: 30, C: 1}); p.Meta.Off != off {
		t.Errorf("off %+v, want %+v", p.Meta.Off, off)
	}
	if err := profile.Validate(p); err != nil {
		t.Error(err)
	}
}

func TestHide(t *testing.T) {
	p := replay(parse(t, `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		10 1 enter critical site=400 free noret
		12 1 enter lock site=410 fn=1 free noret
		15 1 release lock fn=1 free noret
		20 1 release critical free noret
		22 1 enter lock site=410 fn=1 free noret
		27 1 release lock fn=1 free noret
		30 1 end parallel
		30 1 join parallel`), 100)
	for i := range p.Nodes {
		p.Samples = append(p.Samples, profile.Sample{Node: i, Phase: profile.PhaseEnter, Count: 1})
	}
	profile.Hide(p, func(r *profile.Region) bool { return r.Construct == event.Critical })
	var found []string
	for _, s := range p.Samples {
		at := "program"
		if r := p.Nodes[s.Node].Region; r >= 0 {
			at = p.Regions[r].Construct.String()
		}
		found = append(found, at+" "+s.Phase)
	}
	if d := cmp.Diff([]string{"program enter", "PARALLEL enter", "PARALLEL body", "LOCK enter", "LOCK enter"}, found); d != "" {
		t.Errorf("samples: -want +got\n%s", d)
	}
	want := lines(`PARALLEL@300 0:0 exec 30/1 enter 0 body 30/1 bar 0 exit 0 child 8
		PARALLEL@300/LOCK@410 0:0 exec 8/2 enter 0 body 8/2 bar 0 exit 0 child 0`)
	if d := cmp.Diff(want, table(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if err := profile.Validate(p); err != nil {
		t.Error(err)
	}
}

// The second initial thread lives for 100 ns, for 50 of which measurement is off. It is off by the
// program's own marker, on that thread or on another one, or from outside.
func TestLifeWithPause(t *testing.T) {
	const before = `
		0 1 enter critical site=400 free noret
		5 1 release critical free noret
		10 2 fork parallel fn=300 key=7 size=1 site=90
		10 2 begin parallel
		20 2 end parallel
		20 2 join parallel`
	const after = `
		110 2 fork parallel fn=300 key=7 size=1 site=90
		110 2 begin parallel
		110 2 end parallel
		110 2 join parallel`
	for name, pause := range map[string]string{
		"marker of the thread":  "30 2 off user-region\n80 2 on user-region",
		"marker of another one": "30 1 off user-region\n80 1 on user-region",
		"from outside":          "",
	} {
		e := New(1, fakeFiles{})
		feed := func(text string) {
			for _, ev := range parse(t, text) {
				e.Feed(&ev)
			}
		}
		feed(before)
		if pause == "" {
			e.Pause(30)
			e.Resume([]int{1, 2}, 80)
		} else {
			feed(pause)
		}
		feed(after)
		p := e.Finish(200)
		at := slices.IndexFunc(p.Threads, func(th profile.Thread) bool { return th.Root == 1 && th.Num == 0 })
		if at < 0 || p.Threads[at].Lived != 50 {
			t.Errorf("%s: %+v, want a life of 50 ns", name, p.Threads)
		}
	}
}
