package attribution

// What holds for every runtime.
var commonCases = []engineCase{
	{name: "team settles: execT = startup + body + barrier + shutdown",
		events: twoThreads,
		want: `PARALLEL@300 0:0 exec 105/1 enter 5 body 50/1 bar 40 exit 10 child 0
		       PARALLEL@300 0:1 exec 105/1 enter 15 body 80/1 bar 0 exit 10 child 0`},
	{name: "team pointers are reused, size changes",
		events: twoThreads + `
		205 1 fork parallel fn=300 key=7 size=1 site=90
		210 1 begin parallel
		260 1 end parallel
		270 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 170/2 enter 10 body 100/2 bar 40 exit 20 child 0
		       PARALLEL@300 0:1 exec 105/1 enter 15 body 80/1 bar 0 exit 10 child 0`},
	{name: "critical: free at once, contended, slow release; child time of the parent",
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		10 1 enter critical site=400 free noret
		15 2 enter critical site=400
		30 1 release critical
		32 2 acquired critical
		35 1 released critical
		40 2 release critical free noret
		50 1 end parallel
		50 2 end parallel
		50 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 50/1 bar 0 exit 0 child 25
		       PARALLEL@300 0:1 exec 50/1 enter 0 body 50/1 bar 0 exit 0 child 25
		       PARALLEL@300/CRITICAL@400 0:0 exec 25/1 enter 0 body 20/1 bar 0 exit 5 child 0
		       PARALLEL@300/CRITICAL@400 0:1 exec 25/1 enter 17 body 8/1 bar 0 exit 0 child 0`},
	{name: "two sites of one place are one region",
		events: `
		10 1 enter critical site=400 free noret
		20 1 release critical free noret
		30 1 enter critical site=1400 free noret
		45 1 release critical free noret`,
		want: `CRITICAL@400 0:0 exec 25/2 enter 0 body 25/2 bar 0 exit 0 child 0`},
	{name: "nested team: a worker's inner region lies under its outer one",
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		10 2 fork parallel fn=310 key=8 size=2 site=90
		12 2 begin parallel
		14 3 begin parallel key=8 num=1
		30 2 end parallel
		40 3 end parallel
		44 2 join parallel
		50 1 end parallel
		60 2 end parallel
		60 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 60/1 enter 0 body 50/1 bar 10 exit 0 child 0
		       PARALLEL@300 0:1 exec 60/1 enter 0 body 60/1 bar 0 exit 0 child 34
		       PARALLEL@300/PARALLEL@310 0:0 exec 34/1 enter 2 body 18/1 bar 10 exit 4 child 0
		       PARALLEL@300/PARALLEL@310 0:1 exec 34/1 enter 4 body 26/1 bar 0 exit 4 child 0`},
	{name: "locks may overlap: hand over hand",
		events: `
		0 1 enter lock site=400 fn=1 free noret
		10 1 enter lock site=410 fn=2 free noret
		20 1 release lock fn=1 free noret
		35 1 release lock fn=2 free noret`,
		want: `LOCK@400 0:0 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 10
		       LOCK@400/LOCK@410 0:0 exec 25/1 enter 0 body 25/1 bar 0 exit 0 child 0`},
	{name: "a lock that another thread releases",
		unmatched: 1,
		events: `
		0 1 enter lock site=400 fn=1 free noret
		10 2 release lock fn=1 free noret
		20 1 enter lock site=410 fn=2 free noret
		25 1 release lock fn=2 free noret`,
		want: `LOCK@400 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       LOCK@410 0:0 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0`},
	{name: "a lock that another thread releases, read before its holder",
		unmatched: 1,
		events: `
		10 2 release lock fn=1 free noret
		0 1 enter lock site=400 fn=1 free noret
		20 1 enter lock site=410 fn=2 free noret
		25 1 release lock fn=2 free noret`,
		want: `LOCK@400 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       LOCK@410 0:0 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0`},
	{name: "a lock that another thread, which had it when we came, releases while this one waits for it",
		unmatched: 1,
		events: `
		0 1 enter lock site=400 fn=1
		10 2 release lock fn=1
		30 1 acquired lock
		50 1 release lock fn=1
		55 1 released lock`,
		want: `LOCK@400 0:0 exec 55/1 enter 30 body 20/1 bar 0 exit 5 child 0`},
	{name: "locks that overlap in a region charge it once",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		10 1 enter lock site=400 fn=1 free noret
		20 1 enter lock site=410 fn=2 free noret
		30 1 release lock fn=1 free noret
		45 1 release lock fn=2 free noret
		50 1 end parallel
		50 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 50/1 bar 0 exit 0 child 35
		       PARALLEL@300/LOCK@400 0:0 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 10
		       PARALLEL@300/LOCK@400/LOCK@410 0:0 exec 25/1 enter 0 body 25/1 bar 0 exit 0 child 0`},
	{name: "a begin older than every fork of its team belongs to none of them",
		partial: 1,
		events: `
		5 2 begin parallel key=7 num=1
		8 2 end parallel
		10 1 fork parallel fn=300 key=7 size=2 site=90
		11 1 begin parallel
		12 3 begin parallel key=7 num=1
		20 1 end parallel
		20 3 end parallel
		21 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 11/1 enter 1 body 9/1 bar 0 exit 1 child 0
		       PARALLEL@300 0:1 exec 11/1 enter 2 body 8/1 bar 0 exit 1 child 0
		       UNDER WAY@0 0:1 exec 3/1 enter 0 body 3/0 bar 0 exit 0 child 0`},
	{name: "lock tests: a failure is no execution",
		events: `
		0 1 enter lock site=400 fn=1
		2 1 result lock v=0
		10 1 enter lock site=400 fn=1
		12 1 result lock v=1
		20 1 release lock fn=1 free noret`,
		want: `LOCK@400 0:0 exec 10/1 enter 2 body 8/1 bar 0 exit 0 child 0`},
	{name: "recursion: a critical under itself in another lock's name",
		events: `
		0 1 enter nest-lock site=400 fn=1
		1 1 acquired nest-lock
		2 1 enter nest-lock site=400 fn=1
		3 1 acquired nest-lock
		4 1 release nest-lock fn=1
		5 1 released nest-lock
		6 1 release nest-lock fn=1
		7 1 released nest-lock`,
		want: `NEST LOCK@400 0:0 exec 7/1 enter 1 body 5/1 bar 0 exit 1 child 3
		       NEST LOCK@400/NEST LOCK@400 0:0 exec 3/1 enter 1 body 1/1 bar 0 exit 1 child 0`},
	{name: "master: all ask, the primary thread does it; masked with a filter",
		events: `
		0 1 fork parallel rt=k fn=300 loc=30
		0 1 begin parallel rt=k key=7 num=0 size=2
		0 2 begin parallel rt=k key=7 num=1 size=2
		1 1 enter master rt=k site=500 noret
		1 2 enter master rt=k site=500 noret
		3 1 release master rt=k noret
		4 1 enter masked rt=k site=510 noret v=1
		4 2 enter masked rt=k site=510 noret v=1
		6 2 release masked rt=k noret
		9 1 end parallel rt=k
		9 2 end parallel rt=k
		9 1 join parallel rt=k`,
		want: `PARALLEL@30 0:0 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 2
		       PARALLEL@30 0:1 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 2
		       PARALLEL@30/MASTER@500 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
		       PARALLEL@30/MASKED@510 0:1 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0`},
	{name: "threads that start teams of their own stay apart",
		events: `
		0 5 fork parallel fn=300 key=7 size=1 site=90
		1 5 begin parallel
		5 5 end parallel
		6 5 join parallel
		10 1 fork parallel fn=300 key=9 size=1 site=90
		11 1 begin parallel
		15 1 end parallel
		17 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 7/1 enter 1 body 4/1 bar 0 exit 2 child 0
		       PARALLEL@300 1:0 exec 6/1 enter 1 body 4/1 bar 0 exit 1 child 0`},
	{name: "under way at the end: counted, with the time until then",
		end: 100,
		events: `
		10 1 fork parallel fn=300 key=7 size=1 site=90
		20 1 begin parallel
		40 1 enter critical site=400`,
		partial: 2,
		want: `PARALLEL@300 0:0 exec 90/1 enter 10 body 80/1 bar 0 exit 0 child 60
		       PARALLEL@300/CRITICAL@400 0:0 exec 60/1 enter 60 body 0/0 bar 0 exit 0 child 0`},
	{name: "ends without a beginning are dropped and counted, those of one construct once",
		events: `
		5 1 release critical
		6 1 acquired lock fn=1
		6 1 release lock fn=1
		7 1 waited barrier
		8 1 end parallel`,
		unmatched: 4},
}
