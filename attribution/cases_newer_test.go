package attribution

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// A league of two teams of two threads; both teams execute a parallel region. Thread 2 is the
// initial thread of the second team and has a team (key 8) of its own. The teams' keys are those of
// the region inside them.
const twoTeams = `
	0 1 fork teams rt=k fn=300 loc=30
	10 1 begin parallel rt=k fn=300 key=7 num=0 size=2
	12 2 begin parallel rt=k fn=300 key=8 num=0 size=2
	20 1 fork parallel rt=k fn=310 loc=40
	21 1 begin parallel rt=k fn=310 key=7 num=0 size=2
	22 2 fork parallel rt=k fn=310 loc=40
	23 2 begin parallel rt=k fn=310 key=8 num=0 size=2
	25 3 begin parallel rt=k fn=310 key=7 num=1 size=2
	27 4 begin parallel rt=k fn=310 key=8 num=1 size=2
	31 1 end parallel rt=k
	33 2 end parallel rt=k
	35 3 end parallel rt=k
	37 4 end parallel rt=k
	40 1 join parallel rt=k
	42 2 join parallel rt=k
	50 1 end parallel rt=k
	60 2 end parallel rt=k
	70 1 join teams rt=k
`

// Constructs that came with OpenMP 4.0 and later.
var newerCases = []engineCase{
	{name: "libomp: a league's rows are its teams, a region's in it the threads of each team",
		events: twoTeams,
		want: `TEAMS@30 0:0 exec 70/1 enter 10 body 40/1 bar 10 exit 10 child 20
		       TEAMS@30 0:1 exec 70/1 enter 12 body 48/1 bar 0 exit 10 child 20
		       TEAMS@30/PARALLEL@40 0:0 exec 40/2 enter 2 body 20/2 bar 8 exit 10 child 0
		       TEAMS@30/PARALLEL@40 0:1 exec 40/2 enter 10 body 20/2 bar 0 exit 10 child 0`},
	{name: "libomp: teams of one end twice, on a thread that has left the league",
		events: `
		0 1 fork teams rt=k fn=300 loc=30
		1 1 begin parallel rt=k fn=300 key=7 num=0 size=1
		2 2 begin parallel rt=k fn=300 key=7 num=0 size=1
		4 1 end parallel rt=k
		5 1 end parallel rt=k inside
		6 1 join parallel rt=k inside
		7 2 end parallel rt=k
		8 2 end parallel rt=k inside
		9 2 join parallel rt=k inside
		10 1 join teams rt=k`,
		want: `TEAMS@30 0:0 exec 10/1 enter 1 body 3/1 bar 3 exit 3 child 0
		       TEAMS@30 0:1 exec 10/1 enter 2 body 5/1 bar 0 exit 3 child 0`},
	{name: "libomp: where ends have places by thread, teams of a league end up to three times, and join in between",
		events: `
		0 1 fork teams rt=k fn=300 loc=30
		10 1 begin parallel rt=k fn=300 key=7 num=0 size=2
		12 2 begin parallel rt=k fn=300 key=8 num=0 size=1
		20 1 fork parallel rt=k fn=310 loc=40
		21 1 begin parallel rt=k fn=310 key=7 num=0 size=2
		25 3 begin parallel rt=k fn=310 key=7 num=1 size=2
		31 1 end parallel rt=k
		35 3 end parallel rt=k
		40 1 join parallel rt=k
		50 1 end parallel rt=k
		51 1 join parallel rt=k
		52 1 end parallel rt=k
		60 2 end parallel rt=k
		61 2 end parallel rt=k inside
		62 2 join parallel rt=k inside
		63 2 join parallel rt=k
		64 2 end parallel rt=k
		69 1 join parallel rt=k
		70 1 join teams rt=k
		71 2 end parallel rt=k`,
		want: `TEAMS@30 0:0 exec 70/1 enter 10 body 40/1 bar 10 exit 10 child 20
		       TEAMS@30 0:1 exec 70/1 enter 12 body 48/1 bar 0 exit 10 child 0
		       TEAMS@30/PARALLEL@40 0:0 exec 20/1 enter 1 body 10/1 bar 4 exit 5 child 0
		       TEAMS@30/PARALLEL@40 0:1 exec 20/1 enter 5 body 10/1 bar 0 exit 5 child 0`},
	{name: "libgomp: one thread executes the teams one after another",
		events: `
		0 1 fork teams fn=300 site=90 atonce noret
		10 1 close teams
		20 1 close teams
		30 1 join teams`,
		want: `TEAMS@300 0:0 exec 30/1 enter 0 body 30/2 bar 0 exit 0 child 0`},
	{name: "libgomp: the host's loop over the teams of a target region",
		events: `
		0 1 enter target site=400 noret
		1 1 open teams site=410 num=1
		2 1 result teams v=1
		5 1 open teams site=420 num=0
		6 1 result teams v=1
		8 1 open teams site=420 num=0
		9 1 result teams v=0
		10 1 release target noret`,
		want: `TARGET@400 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 8
		       TARGET@400/TEAMS@410 0:0 exec 8/1 enter 0 body 8/2 bar 0 exit 0 child 0`},
	{name: "libomptarget: an entry point that calls another is one region",
		events: `
		0 1 enter target site=400 noret
		1 1 enter target site=9 noret inside
		5 1 release target noret
		7 1 release target noret`,
		want: `TARGET@400 0:0 exec 7/1 enter 0 body 7/1 bar 0 exit 0 child 0`},
	{name: "target data has a body, entering and leaving data is one call each",
		events: `
		0 1 enter target-data site=400
		2 1 acquired target-data
		3 1 enter target-update site=410 whole
		4 1 released target-update whole
		7 1 release target-data
		9 1 released target-data
		10 1 enter target-enter-data site=420 whole v=1
		12 1 released target-enter-data whole
		20 1 enter target-enter-data site=430 whole v=2
		23 1 released target-enter-data whole`,
		want: `TARGET DATA@400 0:0 exec 9/1 enter 2 body 5/1 bar 0 exit 2 child 1
		       TARGET DATA@400/TARGET UPDATE@410 0:0 exec 1/1 enter 0 body 0/0 bar 0 exit 1 child 0
		       TARGET ENTER DATA@420 0:0 exec 2/1 enter 0 body 0/0 bar 0 exit 2 child 0
		       TARGET EXIT DATA@430 0:0 exec 3/1 enter 0 body 0/0 bar 0 exit 3 child 0`},
	{name: "doacross: the wait for an iteration is entering, the post is leaving",
		events: `
		0 1 open loop site=400
		1 1 enter ordered site=410 whole
		5 1 acquired ordered whole
		8 1 enter ordered site=420 whole
		9 1 released ordered whole
		10 1 close loop`,
		want: `LOOP@400 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 5
		       LOOP@400/ORDERED@410 0:0 exec 4/1 enter 4 body 0/0 bar 0 exit 0 child 0
		       LOOP@400/ORDERED@420 0:0 exec 1/1 enter 0 body 0/0 bar 0 exit 1 child 0`},
	{name: "cancel: bodies are those that took effect; libomp's loop ends by its barrier",
		events: `
		0 1 open loop rt=k site=400 loc=202
		1 1 enter cancellation-point rt=k site=410 loc=500
		2 1 result cancellation-point rt=k v=0
		3 1 enter cancel rt=k site=420 loc=510
		4 1 result cancel rt=k v=1
		6 1 wait barrier rt=k site=430 loc=42
		9 1 waited barrier rt=k`,
		want: `LOOP@202 0:0 exec 9/1 enter 0 body 6/1 bar 3 exit 0 child 2
		       LOOP@202/CANCELLATION POINT@500 0:0 exec 1/1 enter 0 body 1/0 bar 0 exit 0 child 0
		       LOOP@202/CANCEL@510 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0`},
	{name: "libgomp: a scope with a task reduction ends by its barrier, another wait follows",
		events: `
		0 1 open scope site=400
		5 1 wait barrier site=410
		8 1 waited barrier
		9 1 enter reduction site=420 whole
		11 1 acquired reduction whole`,
		want: `SCOPE@400 0:0 exec 8/1 enter 0 body 5/1 bar 3 exit 0 child 0
		       REDUCTION@420 0:0 exec 2/1 enter 2 body 0/0 bar 0 exit 0 child 0`},
	{name: "libomp: who combines, who does so by atomics, whose result another took",
		events: `
		0 1 enter reduction rt=k site=400 loc=500
		2 1 result reduction rt=k v=1
		5 1 release reduction rt=k
		6 1 released reduction rt=k
		10 1 enter reduction rt=k site=400 loc=500
		11 1 result reduction rt=k v=2
		20 1 enter reduction rt=k site=400 loc=500
		24 1 result reduction rt=k v=0`,
		want: `REDUCTION@500 0:0 exec 11/3 enter 7 body 3/1 bar 0 exit 1 child 0`},
	{name: "libomp: a region that may be serial is forked by the call that it makes, or is at once",
		events: `
		0 1 fork parallel rt=k fn=300 loc=30 ifserial num=1
		1 1 fork parallel rt=k fn=300 loc=30
		2 1 begin parallel rt=k fn=300 key=7 num=0 size=1
		4 1 end parallel rt=k
		5 1 join parallel rt=k
		10 1 fork parallel rt=k fn=300 loc=30 ifserial num=0
		11 1 begin parallel rt=k fn=300 key=9 num=0 size=1
		14 1 end parallel rt=k
		15 1 end parallel rt=k inside
		16 1 join parallel rt=k inside`,
		want: `PARALLEL@30 0:0 exec 10/2 enter 1 body 6/2 bar 0 exit 3 child 0`},
}

// Leagues come out the same however the rings are read.
func TestLeaguesInterleaved(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		for _, l := range lines(twoTeams) {
			at, rest, _ := strings.Cut(l, " ")
			n, _ := strconv.Atoi(at)
			fmt.Fprintf(&text, "%d %s\n", n+100*i, rest)
		}
	}
	inAnyOrder(t, parse(t, text.String()))
}
