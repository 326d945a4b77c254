package attribution

// Constructs that make no call, seen by probes in the program's own code. The
// value is the event.InlineEnd: 1 its barrier, 2 a point, 3 the region's end.
var inlineCases = []engineCase{
	{name: "inline: a static loop has the barrier that follows it, the next one is explicit",
		events: `
		10 1 open loop site=500 inline v=1
		30 1 wait barrier site=600
		50 1 waited barrier
		60 1 wait barrier site=610
		65 1 waited barrier`,
		want: `LOOP@500 0:0 exec 40/1 enter 0 body 20/1 bar 20 exit 0 child 0
		       BARRIER@610 0:0 exec 5/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
	{name: "inline: a second place before the same barrier is the same execution",
		events: `
		10 1 open loop site=500 inline v=1
		29 1 open loop site=500 inline v=1
		30 1 wait barrier site=600
		50 1 waited barrier
		70 1 open loop site=500 inline v=1
		71 1 wait barrier site=600
		90 1 waited barrier`,
		want: `LOOP@500 0:0 exec 60/2 enter 0 body 21/2 bar 39 exit 0 child 0`},
	{name: "inline: a nowait loop ends at its point, others come by that too",
		events: `
		5 1 close loop site=500 inline v=2
		10 1 open loop site=500 inline v=2
		30 1 close loop site=500 inline v=2
		40 1 wait barrier site=600
		50 1 waited barrier`,
		want: `LOOP@500 0:0 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 0
		       BARRIER@600 0:0 exec 10/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
	{name: "inline: a nowait loop ends where the next loop begins, or a master, or with the region",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		10 1 open loop site=500 inline v=2
		30 1 open loop site=510 inline v=2
		40 1 enter master site=520 inline v=2
		44 1 release master site=520 inline v=2
		50 1 open loop site=530 inline v=3
		90 1 end parallel
		95 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 95/1 enter 0 body 90/1 bar 0 exit 5 child 74
		       PARALLEL@300/LOOP@500 0:0 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 0
		       PARALLEL@300/LOOP@510 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       PARALLEL@300/MASTER@520 0:0 exec 4/1 enter 0 body 4/1 bar 0 exit 0 child 0
		       PARALLEL@300/LOOP@530 0:0 exec 40/1 enter 0 body 40/1 bar 0 exit 0 child 0`},
	{name: "inline: a critical lies in the loop, an atomic is counted in it and not timed",
		events: `
		10 1 open loop site=500 inline v=1
		12 1 enter critical site=700
		13 1 acquired critical
		14 1 release critical
		15 1 released critical
		16 1 enter atomic site=710 inline
		17 1 enter atomic site=710 inline
		30 1 wait barrier site=600
		50 1 waited barrier`,
		want: `LOOP@500 0:0 exec 40/1 enter 0 body 20/1 bar 20 exit 0 child 3
		       LOOP@500/CRITICAL@700 0:0 exec 3/1 enter 1 body 1/1 bar 0 exit 1 child 0
		       LOOP@500/ATOMIC@710 0:0 exec 0/2 enter 0 body 0/0 bar 0 exit 0 child 0`},
	{name: "inline: a master without a place at its end is not taken for one under way at the end",
		events: `
		10 1 enter master site=520 inline v=0`,
		end:  50,
		want: `MASTER@520 0:0 exec 40/1 enter 0 body 40/1 bar 0 exit 0 child 0`},
	{name: "inline: the body of a single nowait ends at its point",
		events: `
		10 1 open single site=84
		11 1 result single v=1
		40 1 release single site=84 inline v=2
		50 1 wait barrier site=600
		60 1 waited barrier
		70 1 open single site=84
		71 1 result single v=0
		72 1 release single site=84 inline v=2`,
		want: `SINGLE@84 0:0 exec 31/2 enter 0 body 30/1 bar 1 exit 0 child 0
		       BARRIER@600 0:0 exec 10/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
	{name: "inline: a region's beginning and a barrier tell where loops begin that have no probe there",
		events: `
		0 1 fork parallel fn=350 key=7 size=2 site=90
		2 1 begin parallel
		3 2 begin parallel key=7 num=1
		20 1 wait barrier site=650
		30 2 wait barrier site=650
		33 1 waited barrier
		34 2 waited barrier
		60 2 end parallel
		70 1 end parallel
		75 1 join parallel`,
		want: `PARALLEL@350 0:0 exec 75/1 enter 2 body 68/1 bar 0 exit 5 child 68
		       PARALLEL@350 0:1 exec 75/1 enter 3 body 57/1 bar 10 exit 5 child 57
		       PARALLEL@350/LOOP@550 0:0 exec 31/1 enter 0 body 18/1 bar 13 exit 0 child 0
		       PARALLEL@350/LOOP@550 0:1 exec 31/1 enter 0 body 27/1 bar 4 exit 0 child 0
		       PARALLEL@350/LOOP@560 0:0 exec 37/1 enter 0 body 37/1 bar 0 exit 0 child 0
		       PARALLEL@350/LOOP@560 0:1 exec 26/1 enter 0 body 26/1 bar 0 exit 0 child 0`},
	{name: "inline: a loop that its region's beginning or a barrier tells may have a probe, too",
		events: `
		0 1 fork parallel fn=350 key=7 size=1 site=90
		2 1 begin parallel
		4 1 open loop site=550 inline v=1
		20 1 wait barrier site=650
		33 1 waited barrier
		35 1 open loop site=560 inline v=3
		70 1 end parallel
		75 1 join parallel`,
		want: `PARALLEL@350 0:0 exec 75/1 enter 2 body 68/1 bar 0 exit 5 child 68
		       PARALLEL@350/LOOP@550 0:0 exec 31/1 enter 0 body 18/1 bar 13 exit 0 child 0
		       PARALLEL@350/LOOP@560 0:0 exec 37/1 enter 0 body 37/1 bar 0 exit 0 child 0`},
	{name: "inline: the loop behind a barrier that was entered before the measurement began is not known",
		events: `
		10 1 waited barrier
		30 1 wait barrier site=610
		35 1 waited barrier`,
		want: `BARRIER@610 0:0 exec 5/1 enter 0 body 0/0 bar 0 exit 0 child 0`, unmatched: 1},
	{name: "inline: a loop that GCC starts by a call and shares out in its code is one loop",
		events: `
		10 1 open loop site=500
		11 1 open loop site=501 inline v=1
		30 1 wait loop
		35 1 waited loop`,
		want: `LOOP@500 0:0 exec 25/1 enter 0 body 20/1 bar 5 exit 0 child 0`},
}
