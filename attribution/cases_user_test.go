package attribution

// User regions: functions (v=0), lines (v=1), markers (v=2).
var userCases = []engineCase{
	{name: "function: a region in it, and it in a region",
		events: `
		0 1 enter user-region site=500 sp=9000
		5 1 fork parallel fn=300 key=7 size=2 site=90 sp=8000
		10 1 begin parallel sp=8000
		12 2 begin parallel key=7 num=1 sp=5000
		20 1 enter user-region site=510 sp=7900
		30 1 release user-region site=510 sp=7800
		40 2 enter user-region site=510 sp=4900
		60 2 release user-region site=510 sp=4900
		60 1 end parallel sp=8000
		100 2 end parallel sp=5000
		110 1 join parallel sp=8000
		120 1 release user-region site=500 sp=9000`,
		want: `USER REGION@500 0:0 exec 120/1 enter 0 body 120/1 bar 0 exit 0 child 105
		       USER REGION@500/PARALLEL@300 0:0 exec 105/1 enter 5 body 50/1 bar 40 exit 10 child 10
		       USER REGION@500/PARALLEL@300 0:1 exec 105/1 enter 7 body 88/1 bar 0 exit 10 child 20
		       USER REGION@500/PARALLEL@300/USER REGION@510 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       USER REGION@500/PARALLEL@300/USER REGION@510 0:1 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 0`},
	{name: "recursion: the exit's frame is the one next above its stack pointer",
		events: `
		0 1 enter user-region site=500 sp=9000
		1 1 enter user-region site=500 sp=8900
		2 1 enter user-region site=500 sp=8800
		5 1 release user-region site=500 sp=8750
		7 1 release user-region site=500 sp=8850
		9 1 release user-region site=500 sp=8950`,
		want: `USER REGION@500 0:0 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 6
		       USER REGION@500/USER REGION@500 0:0 exec 6/1 enter 0 body 6/1 bar 0 exit 0 child 3
		       USER REGION@500/USER REGION@500/USER REGION@500 0:0 exec 3/1 enter 0 body 3/1 bar 0 exit 0 child 0`},
	{name: "an exception through two functions, caught in the third, which returns",
		events: `
		0 1 enter user-region site=500 sp=9000
		1 1 enter user-region site=510 sp=8900
		2 1 enter user-region site=520 sp=8800
		9 1 release user-region site=500 sp=8950`,
		want: `USER REGION@500 0:0 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 8
		       USER REGION@500/USER REGION@510 0:0 exec 8/1 enter 0 body 8/1 bar 0 exit 0 child 7
		       USER REGION@500/USER REGION@510/USER REGION@520 0:0 exec 7/1 enter 0 body 7/1 bar 0 exit 0 child 0`},
	{name: "an exception caught in the function itself, called recursively",
		events: `
		0 1 enter user-region site=500 sp=9000
		1 1 enter user-region site=500 sp=8900
		9 1 release user-region site=500 sp=8950`,
		want: `USER REGION@500 0:0 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 8
		       USER REGION@500/USER REGION@500 0:0 exec 8/1 enter 0 body 8/1 bar 0 exit 0 child 0`},
	{name: "left by longjmp, seen by the next call of a runtime, a critical left with it",
		unmatched: 1,
		events: `
		0 1 enter user-region site=500 sp=9000
		1 1 enter critical site=400 free noret sp=8900
		4 1 enter critical site=410 free noret sp=9100
		6 1 release critical free noret sp=9100`,
		want: `USER REGION@500 0:0 exec 4/1 enter 0 body 4/1 bar 0 exit 0 child 0
		       USER REGION@500/CRITICAL@400 0:0 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0
		       CRITICAL@410 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0`},
	{name: "left, and another one called from the same place",
		events: `
		0 1 enter user-region site=500 sp=9000
		4 1 enter user-region site=510 sp=9000
		6 1 release user-region site=510 sp=9000`,
		want: `USER REGION@500 0:0 exec 4/1 enter 0 body 4/1 bar 0 exit 0 child 0
		       USER REGION@510 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0`},
	{name: "a lock set in a function outlives it",
		events: `
		0 1 enter user-region site=500 sp=9000
		1 1 enter lock site=400 fn=1 free noret sp=8900
		4 1 release user-region site=500 sp=9000
		6 1 release lock fn=1 free noret sp=9100`,
		want: `USER REGION@500 0:0 exec 4/1 enter 0 body 4/1 bar 0 exit 0 child 3
		       USER REGION@500/LOCK@400 0:0 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0`},
	{name: "a coroutine on a higher stack: suspended while its caller goes on",
		events: `
		0 1 enter user-region site=500 sp=9000
		1 1 enter user-region site=510 sp=9009000
		3 1 enter user-region site=520 sp=8900
		4 1 release user-region site=520 sp=8900
		5 1 release user-region site=510 sp=9009000
		9 1 release user-region site=500 sp=8950`,
		want: `USER REGION@500 0:0 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 4
		       USER REGION@500/USER REGION@510 0:0 exec 4/1 enter 0 body 4/1 bar 0 exit 0 child 1
		       USER REGION@500/USER REGION@510/USER REGION@520 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0`},
	{name: "a jump that may be a switch's ends a function only at its own stack pointer",
		events: `
		0 1 enter user-region site=500 sp=9000
		1 1 release user-region site=500 sp=8900 v=3
		5 1 release user-region site=500 sp=9000 v=3`,
		want: `USER REGION@500 0:0 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0`},
	{name: "one instruction that is entry and exit",
		events: `
		3 1 enter user-region site=500 sp=9000 free
		5 1 enter user-region site=500 sp=9000 free`,
		want: `USER REGION@500 0:0 exec 0/2 enter 0 body 0/2 bar 0 exit 0 child 0`},
	{name: "ends whose beginning was before the measurement",
		unmatched: 2,
		events: `
		1 1 release user-region site=500 sp=9000
		2 1 enter user-region site=510 sp=8000
		3 1 release user-region site=500 sp=9100
		4 1 release user-region site=510 sp=8000`,
		want: `USER REGION@510 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0`},
	{name: "a region that ends with a function left in it",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		10 1 enter user-region site=500 sp=9000
		50 1 end parallel
		50 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 50/1 bar 0 exit 0 child 40
		       PARALLEL@300/USER REGION@500 0:0 exec 40/1 enter 0 body 40/1 bar 0 exit 0 child 0`},
	{name: "lines: a loop inside comes back to the first one; then left by an exception",
		events: `
		0 1 enter user-region site=500 sp=9000 v=4
		4 1 enter user-region site=500 sp=9000 v=4
		6 1 release user-region site=500 sp=9000 v=1
		7 1 release user-region site=500 sp=9000 v=1
		10 1 enter user-region site=500 sp=9000 v=1
		14 1 enter critical site=410 free noret sp=9100
		16 1 release critical free noret sp=9100`,
		want: `USER REGION@500 0:0 exec 10/2 enter 0 body 10/2 bar 0 exit 0 child 0
		       CRITICAL@410 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0`},
	{name: "markers: set by functions that return, nested; the inner one's end is missing",
		events: `
		0 1 enter user-region site=500 sp=9000 v=2
		4 1 enter critical site=410 free noret sp=9100
		6 1 release critical free noret sp=9100
		8 1 enter user-region site=510 sp=9000 v=2
		10 1 release user-region site=500 sp=9000 v=2`,
		want: `USER REGION@500 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 4
		       USER REGION@500/CRITICAL@410 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
		       USER REGION@500/USER REGION@510 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0`},
	{name: "functions that call each other: a path holds each once",
		events: `
		0 1 enter user-region site=500 sp=9000
		10 1 enter user-region site=510 sp=8900
		14 1 enter critical site=400 free noret sp=8850
		16 1 release critical free noret sp=8850
		20 1 enter user-region site=500 sp=8800
		25 1 enter user-region site=510 sp=8700
		26 1 enter user-region site=520 sp=8600
		30 1 release user-region site=520 sp=8600
		40 1 release user-region site=510 sp=8700
		50 1 release user-region site=500 sp=8800
		70 1 release user-region site=510 sp=8900
		100 1 release user-region site=500 sp=9000`,
		want: `USER REGION@500 0:0 exec 100/2 enter 0 body 100/2 bar 0 exit 0 child 45
		       USER REGION@500/USER REGION@510 0:0 exec 45/2 enter 0 body 45/2 bar 0 exit 0 child 6
		       USER REGION@500/USER REGION@510/CRITICAL@400 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
		       USER REGION@500/USER REGION@510/USER REGION@520 0:0 exec 4/1 enter 0 body 4/1 bar 0 exit 0 child 0`},
}
