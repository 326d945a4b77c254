package attribution

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/stream"
	"ompp-attach/profile"
)

// schedTable lists what a profile's waits were made of: a line for each node, thread and kind.
func schedTable(p *profile.Profile) (out []string) {
	kinds := [...]string{"wait", "done", "lock", "task", "mpi", "due", "held"}
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Stats {
			if s.Sched == nil {
				continue
			}
			r := p.Regions[p.Nodes[i].Region]
			for k, o := range s.Sched.Parts() {
				if *o == (profile.OffCore{}) {
					continue
				}
				out = append(out, fmt.Sprintf("%s@%d %d %s %d: on %d asleep %d preempted %d late %d foreign %d moves %d", r.Construct, r.Location.Begin,
					s.Thread, kinds[k], o.T, o.OnCore(), o.Asleep, o.Preempted, o.Late, o.Foreign, o.Moves))
			}
			if len(s.Sched.By)+len(s.Sched.DueBy) > 0 {
				out = append(out, fmt.Sprintf("%s@%d %d by %v due by %v", r.Construct, r.Location.Begin, s.Thread, s.Sched.By, s.Sched.DueBy))
			}
		}
	}
	return out
}

// awayCases are waits that are made of known parts. Events of one thread are in order,
// as in a ring.
var awayCases = []struct{ name, events, want string }{
	{"a thread spins, is preempted, and sleeps; the latecomer has slept, and has lost its core to process 9",
		`
		100 1 fork parallel fn=300 key=7 size=2 site=90
		100 1 begin parallel key=7
		100 2 begin parallel key=7 num=1
		200 1 wait barrier site=400
		250 1 offcore parallel off=230
		700 2 offcore parallel off=300 woken=650 rival=9 had=40 foreign=50 moves=1
		850 2 offcore parallel off=750 rival=9 had=100 foreign=100
		1000 2 wait barrier site=400
		1030 1 offcore parallel off=600 woken=1010
		1040 1 waited barrier
		1005 2 waited barrier
		1100 1 end parallel
		1100 2 end parallel
		1100 1 join parallel`,
		`PARALLEL@300 1 due 800: on 300 asleep 350 preempted 100 late 50 foreign 150 moves 1
		 PARALLEL@300 1 by [] due by [{0 140}]
		 BARRIER@400 0 wait 800: on 380 asleep 400 preempted 20 late 0 foreign 0 moves 0
		 BARRIER@400 0 done 40: on 10 asleep 10 preempted 0 late 20 foreign 0 moves 0
		 BARRIER@400 1 done 5: on 5 asleep 0 preempted 0 late 0 foreign 0 moves 0`},
	{"the holder of a critical sleeps, and is preempted by its own process",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		0 2 begin parallel key=7 num=1
		10 1 enter critical site=400 fn=5
		11 1 acquired critical
		20 2 enter critical site=400 fn=5
		50 1 offcore parallel off=30 woken=50
		80 1 offcore parallel off=70 rival=1 had=10
		110 1 release critical
		111 1 released critical
		115 2 offcore parallel off=25 woken=111
		120 2 acquired critical
		130 2 release critical
		131 2 released critical
		140 1 end parallel
		150 2 end parallel
		151 1 join parallel`,
		`PARALLEL@300 0 wait 10: on 10 asleep 0 preempted 0 late 0 foreign 0 moves 0
		 PARALLEL@300 1 due 10: on 1 asleep 9 preempted 0 late 0 foreign 0 moves 0
		 CRITICAL@405 0 lock 1: on 1 asleep 0 preempted 0 late 0 foreign 0 moves 0
		 CRITICAL@405 0 held 90: on 60 asleep 20 preempted 10 late 0 foreign 0 moves 0
		 CRITICAL@405 0 by [] due by [{0 10}]
		 CRITICAL@405 1 lock 100: on 10 asleep 86 preempted 0 late 4 foreign 0 moves 0`},
	{"a worker sleeps in the region's last barrier until the next region: its wait is divided then",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		0 2 begin parallel key=7 num=1
		100 2 end parallel
		300 1 end parallel
		301 1 join parallel
		900 1 fork parallel fn=300 key=8 size=2 site=90
		900 1 begin parallel key=8
		910 2 offcore parallel off=120 woken=905
		911 2 begin parallel key=8 num=1
		1000 1 end parallel
		1000 2 end parallel
		1001 1 join parallel`,
		`PARALLEL@300 0 due 200: on 200 asleep 0 preempted 0 late 0 foreign 0 moves 0
		 PARALLEL@300 1 wait 200: on 20 asleep 180 preempted 0 late 0 foreign 0 moves 0`},
	{"the same, but nothing tells of the thread after the wait: it is not divided",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		0 2 begin parallel key=7 num=1
		100 2 end parallel
		300 1 end parallel
		301 1 join parallel`,
		`PARALLEL@300 0 due 200: on 200 asleep 0 preempted 0 late 0 foreign 0 moves 0`},
	{"a thread waits for tasks: it executes one meanwhile, is preempted in the task, and sleeps after it",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		0 2 begin parallel key=7 num=1
		10 1 enter task fn=500 site=400 key=70
		12 1 released task
		20 1 wait taskwait site=410
		30 1 begin taskexec fn=500 key=70
		60 1 offcore parallel off=40
		70 1 end taskexec key=70
		95 1 offcore parallel off=75 woken=90
		100 1 waited taskwait
		200 2 end parallel
		200 1 end parallel
		200 1 join parallel`,
		`TASKWAIT@410 0 task 40: on 20 asleep 15 preempted 0 late 5 foreign 0 moves 0`},
	{"after a loss, and after a time off the core that began before measuring, waits are not divided",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		0 2 begin parallel key=7 num=1
		10 1 wait barrier site=400
		40 1 offcore parallel off=30 woken=40 missing=1
		100 2 wait barrier site=400
		101 1 waited barrier
		101 2 waited barrier
		110 1 wait barrier site=410
		150 1 offcore parallel off=0
		200 2 wait barrier site=410
		201 1 waited barrier
		201 2 waited barrier
		215 1 offcore parallel off=210 missing=1
		220 1 end parallel
		230 2 end parallel
		231 1 join parallel`,
		`PARALLEL@300 0 wait 10: on 10 asleep 0 preempted 0 late 0 foreign 0 moves 0
		 PARALLEL@300 1 due 180: on 180 asleep 0 preempted 0 late 0 foreign 0 moves 0
		 BARRIER@400 0 done 1: on 1 asleep 0 preempted 0 late 0 foreign 0 moves 0
		 BARRIER@400 1 done 1: on 1 asleep 0 preempted 0 late 0 foreign 0 moves 0
		 BARRIER@410 0 done 1: on 1 asleep 0 preempted 0 late 0 foreign 0 moves 0
		 BARRIER@410 1 done 1: on 1 asleep 0 preempted 0 late 0 foreign 0 moves 0`},
}

// Each wait is divided as its construction says; also if the stream was recorded, and read again.
func TestWhatWaitsWereMadeOf(t *testing.T) {
	for _, tc := range awayCases {
		t.Run(tc.name, func(t *testing.T) {
			s := stream.Stream{PID: 1, End: 2000, OffCoreTold: true, Events: parse(t, tc.events)}
			var b bytes.Buffer
			if err := stream.Encode(&b, &s); err != nil {
				t.Fatal(err)
			}
			again, err := stream.Decode(&b)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, line := range strings.Split(tc.want, "\n") {
				want = append(want, strings.TrimSpace(line))
			}
			for _, s := range []*stream.Stream{&s, again} {
				e := New(1, fakeFiles{})
				e.TellsOffCore()
				got := schedTable(finished(s, e))
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("-want +got\n%s", d)
				}
			}
			again.OffCoreTold = false
			if got := schedTable(finished(again, New(1, fakeFiles{}))); len(got) > 0 {
				t.Errorf("nobody watched: %v", got)
			}
		})
	}
}
