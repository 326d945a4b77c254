package attribution

// What libgomp's calls mean.
var gompCases = []engineCase{
	{name: "gomp: dynamic loop with its barrier, and nowait",
		events: `
		10 1 open loop site=500
		30 1 wait loop
		50 1 waited loop
		60 1 open loop site=510
		75 1 close loop`,
		want: `LOOP@500 0:0 exec 40/1 enter 0 body 20/1 bar 20 exit 0 child 0
		       LOOP@510 0:0 exec 15/1 enter 0 body 15/1 bar 0 exit 0 child 0`},
	{name: "gomp: a jump to another entry point reports one loop twice",
		events: `
		10 1 open loop site=500 sp=64
		11 1 open loop site=777 sp=64
		30 1 close loop`,
		want: `LOOP@500 0:0 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 0`},
	{name: "gomp: single, winner and loser, its barrier, then an explicit one",
		events: `
		10 1 open single site=81
		11 1 result single v=1
		30 1 wait barrier site=600
		40 1 waited barrier
		50 1 wait barrier site=610
		60 1 waited barrier
		110 1 open single site=81
		111 1 result single v=0
		115 1 wait barrier site=600
		140 1 waited barrier`,
		want: `SINGLE@81 0:0 exec 60/2 enter 0 body 20/1 bar 36 exit 0 child 0
		       BARRIER@610 0:0 exec 10/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
	{name: "gomp: an empty single of whose end nothing is known is counted, and holds nothing",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		10 1 open single site=85
		12 1 result single v=1
		20 1 open loop site=400
		30 1 close loop
		40 1 open single site=85
		42 1 result single v=1
		50 1 end parallel
		50 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 50/1 bar 0 exit 0 child 14
		       PARALLEL@300/SINGLE@85 0:0 exec 4/2 enter 0 body 0/2 bar 0 exit 0 child 0
		       PARALLEL@300/LOOP@400 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0`},
	{name: "gomp: single nowait is counted and claims no barrier",
		events: `
		10 1 open single site=82
		11 1 result single v=1
		30 1 wait barrier site=600
		40 1 waited barrier`,
		want: `SINGLE@82 0:0 exec 1/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       BARRIER@600 0:0 exec 10/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
	{name: "gomp: single at a region's end, whose barrier GCC drops",
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		10 1 open single site=83
		11 1 result single v=1
		12 2 open single site=83
		13 2 result single v=0
		14 2 end parallel
		40 1 end parallel
		50 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 40/1 bar 0 exit 10 child 30
		       PARALLEL@300 0:1 exec 50/1 enter 0 body 14/1 bar 26 exit 10 child 1
		       PARALLEL@300/SINGLE@83 0:0 exec 30/1 enter 0 body 30/1 bar 0 exit 0 child 0
		       PARALLEL@300/SINGLE@83 0:1 exec 1/1 enter 0 body 0/0 bar 1 exit 0 child 0`},
	{name: "gomp: a parallel for that GCC split is one construct where the source tells",
		events: `
		0 1 fork parallel fn=320 key=7 size=1 site=90
		1 1 begin parallel
		2 1 open loop site=500
		3 1 enter critical site=400 free noret
		6 1 release critical free noret
		8 1 close loop
		9 1 end parallel
		10 1 join parallel`,
		want: `PARALLEL LOOP@320 0:0 exec 10/1 enter 1 body 8/1 bar 0 exit 1 child 3
		       PARALLEL LOOP@320/CRITICAL@400 0:0 exec 3/1 enter 0 body 3/1 bar 0 exit 0 child 0`},
	{name: "gomp: sections, two of them on this thread",
		events: `
		10 1 open sections site=500
		12 1 result sections v=1
		20 1 release sections
		21 1 result sections v=2
		30 1 release sections
		31 1 result sections
		32 1 wait sections
		40 1 waited sections`,
		want: `SECTIONS@500 0:0 exec 30/1 enter 0 body 17/2 bar 8 exit 0 child 0`},
	{name: "gomp: sections each of which ends when the next one is asked for",
		events: `
		10 1 open sections site=500
		12 1 result sections v=1
		20 1 result sections v=1
		30 1 result sections
		32 1 wait sections
		40 1 waited sections`,
		want: `SECTIONS@500 0:0 exec 30/1 enter 0 body 18/2 bar 8 exit 0 child 0`},
	{name: "gomp: a combined region's sections, the same",
		events: `
		20 1 fork parallel fn=310 key=7 size=1 site=92
		21 1 begin parallel
		22 1 result sections v=1
		27 1 result sections v=1
		28 1 result sections
		29 1 close sections
		29 1 end parallel
		30 1 join parallel`,
		want: `PARALLEL SECTIONS@310 0:0 exec 10/1 enter 1 body 6/2 bar 0 exit 1 child 0`},
	{name: "gomp: a combined region's construct that has kept its end",
		events: `
		20 1 fork parallel fn=310 key=7 size=1 site=92
		21 1 begin parallel
		22 1 result sections v=1
		27 1 result sections
		28 1 wait sections site=510
		33 1 waited sections
		35 1 end parallel
		36 1 join parallel
		40 1 fork parallel fn=300 key=7 size=1 site=91
		41 1 begin parallel
		45 1 wait loop site=520
		48 1 waited loop
		49 1 end parallel
		50 1 join parallel`,
		want: `PARALLEL SECTIONS@310 0:0 exec 16/1 enter 1 body 5/1 bar 0 exit 1 child 5
		       PARALLEL SECTIONS@310/SECTIONS@510 0:0 exec 5/1 enter 0 body 0/0 bar 5 exit 0 child 0
		       PARALLEL LOOP@300 0:0 exec 10/1 enter 1 body 8/1 bar 0 exit 1 child 3
		       PARALLEL LOOP@300/LOOP@520 0:0 exec 3/1 enter 0 body 0/0 bar 3 exit 0 child 0`},
	{name: "gomp: combined constructs come from the fork's call",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=91
		1 1 begin parallel
		5 1 close loop
		9 1 end parallel
		10 1 join parallel
		20 1 fork parallel fn=310 key=7 size=1 site=92
		21 1 begin parallel
		22 1 release sections
		23 1 result sections v=1
		27 1 release sections
		28 1 result sections
		29 1 close sections
		29 1 end parallel
		30 1 join parallel`,
		want: `PARALLEL LOOP@300 0:0 exec 10/1 enter 1 body 8/1 bar 0 exit 1 child 0
		       PARALLEL SECTIONS@310 0:0 exec 10/1 enter 1 body 4/1 bar 0 exit 1 child 0`},
}
