package attribution

// What libomp's calls mean.
var kmpcCases = []engineCase{
	{name: "libomp: criticals that threads wait for, and are in, at attach, are one end each",
		events: `
		10 1 release critical rt=k
		11 1 released critical rt=k
		12 2 acquired critical rt=k
		20 2 release critical rt=k
		21 2 released critical rt=k`,
		unmatched: 2},
	{name: "libomp: single under way at attach, of whose two ends one counts",
		events: `
		10 1 result single rt=k v=1
		20 1 release single rt=k
		30 1 result single rt=k v=0`,
		unmatched: 2},
	{name: "libomp: static loop with barrier, nowait loop, explicit barrier",
		events: `
		10 1 open loop rt=k site=500 loc=202 v=100
		30 1 close loop rt=k
		31 1 wait barrier rt=k site=501 loc=42
		40 1 waited barrier rt=k
		50 1 open loop rt=k site=510 loc=203
		60 1 close loop rt=k
		70 1 wait barrier rt=k site=511 loc=22
		80 1 waited barrier rt=k`,
		want: `LOOP@202 0:0 exec 30/1 enter 0 body 21/1 bar 9 exit 0 child 0
		       LOOP@203 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       BARRIER@22 0:0 exec 10/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
	{name: "libomp: the barrier of a loop without iterations is no other loop's, with and without a probe at its end",
		events: `
		10 1 open loop rt=k site=500 loc=210
		20 1 close loop rt=k
		25 1 wait barrier rt=k loc=42
		30 1 waited barrier rt=k
		40 1 open loop rt=k site=500 loc=211 next
		50 1 wait barrier rt=k loc=42
		55 1 waited barrier rt=k
		60 1 open loop rt=k site=500 loc=202 next
		70 1 wait barrier rt=k loc=42
		75 1 waited barrier rt=k`,
		want: `LOOP@210 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       BARRIER@42 0:0 exec 10/2 enter 0 body 0/0 bar 0 exit 0 child 0
		       LOOP@211 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       LOOP@202 0:0 exec 15/1 enter 0 body 10/1 bar 5 exit 0 child 0`},
	{name: "libomp: loops without a probe at their end last until the next loop, a barrier, the region's end",
		events: `
		0 1 fork parallel rt=k fn=300 loc=30
		0 1 begin parallel rt=k key=7 num=0 size=1
		10 1 open loop rt=k site=500 loc=203 next sp=8
		15 1 enter critical rt=k site=510 loc=512
		16 1 acquired critical rt=k
		18 1 release critical rt=k
		19 1 released critical rt=k
		20 1 open loop rt=k site=500 loc=203 next sp=8
		30 1 open loop rt=k site=520 loc=204 next
		40 1 wait barrier rt=k loc=22
		45 1 waited barrier rt=k
		50 1 open loop rt=k site=530 loc=205 next
		60 1 wait barrier rt=k loc=42
		64 1 waited barrier rt=k
		70 1 open loop rt=k site=540 loc=206 next
		72 1 close loop rt=k
		80 1 open loop rt=k site=550 loc=207 next
		85 1 enter lock rt=k site=560 fn=1 free noret
		90 1 end parallel rt=k
		99 1 join parallel rt=k`,
		want: `PARALLEL@30 0:0 exec 99/1 enter 0 body 90/1 bar 0 exit 9 child 61
		       PARALLEL@30/LOOP@203 0:0 exec 20/2 enter 0 body 20/2 bar 0 exit 0 child 4
		       PARALLEL@30/LOOP@203/CRITICAL@512 0:0 exec 4/1 enter 1 body 2/1 bar 0 exit 1 child 0
		       PARALLEL@30/LOOP@204 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       PARALLEL@30/BARRIER@22 0:0 exec 5/1 enter 0 body 0/0 bar 0 exit 0 child 0
		       PARALLEL@30/LOOP@205 0:0 exec 14/1 enter 0 body 10/1 bar 4 exit 0 child 0
		       PARALLEL@30/LOOP@206 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
		       PARALLEL@30/LOOP@207 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       PARALLEL@30/LOOP@207/LOCK@560 0:0 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0`,
		unmatched: 1}, // nobody unsets the lock
	{name: "libomp: regions within a loop without a probe at its end do not end the loop",
		events: `
		0 1 fork parallel rt=k fn=300 loc=30
		0 1 begin parallel rt=k key=7 num=0 size=1
		10 1 open loop rt=k site=500 loc=203 next
		12 1 fork parallel rt=k fn=310 loc=31
		13 1 begin parallel rt=k key=8 num=0 size=1
		14 1 open loop rt=k site=600 loc=204 next
		16 1 end parallel rt=k
		17 1 end parallel rt=k inside
		18 1 join parallel rt=k inside
		19 1 join parallel rt=k
		20 1 fork parallel rt=k loc=32 site=300 atonce noret
		25 1 end parallel rt=k inside
		26 1 join parallel rt=k inside
		40 1 end parallel rt=k
		50 1 join parallel rt=k`,
		want: `PARALLEL@30 0:0 exec 50/1 enter 0 body 40/1 bar 0 exit 10 child 30
		       PARALLEL@30/LOOP@203 0:0 exec 30/1 enter 0 body 30/1 bar 0 exit 0 child 13
		       PARALLEL@30/LOOP@203/PARALLEL@31 0:0 exec 7/1 enter 1 body 3/1 bar 0 exit 3 child 2
		       PARALLEL@30/LOOP@203/PARALLEL@31/LOOP@204 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
		       PARALLEL@30/LOOP@203/PARALLEL@32 0:0 exec 6/1 enter 0 body 5/1 bar 0 exit 1 child 0`},
	{name: "libomp: a cancelled loop without a call at its end is left when its region ends",
		events: `
		0 1 fork parallel rt=k fn=300 loc=30
		0 1 begin parallel rt=k key=7 num=0 size=1
		10 1 open loop rt=k site=500 loc=203
		20 1 end parallel rt=k
		30 1 join parallel rt=k`,
		want: `PARALLEL@30 0:0 exec 30/1 enter 0 body 20/1 bar 0 exit 10 child 0
		       PARALLEL@30/LOOP@203 0:0 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0`,
		unmatched: 1},
	{name: "libomp: atomics that are one call each have no body, and end",
		events: `
		0 1 fork parallel rt=k fn=300 loc=202
		1 1 begin parallel rt=k key=7 num=0 size=1
		2 1 enter atomic rt=k site=510 loc=512 sp=8
		4 1 released atomic rt=k sp=16
		5 1 enter atomic rt=k site=510 loc=512 sp=8
		8 1 released atomic rt=k sp=16
		9 1 end parallel rt=k
		10 1 join parallel rt=k`,
		want: `PARALLEL@202 0:0 exec 10/1 enter 1 body 8/1 bar 0 exit 1 child 5
		       PARALLEL@202/ATOMIC@512 0:0 exec 5/2 enter 0 body 0/0 bar 0 exit 5 child 0`},
	{name: "libomp: parallel, loop of one directive combined; a critical inside stays",
		events: `
		0 1 fork parallel rt=k fn=300 loc=202
		1 1 begin parallel rt=k key=7 num=0 size=1
		2 1 open loop rt=k site=500 loc=202
		3 1 enter critical rt=k site=510 loc=512
		4 1 acquired critical rt=k
		6 1 release critical rt=k
		7 1 released critical rt=k
		8 1 close loop rt=k
		9 1 end parallel rt=k
		10 1 join parallel rt=k`,
		want: `PARALLEL LOOP@202 0:0 exec 10/1 enter 1 body 8/1 bar 0 exit 1 child 4
		       PARALLEL LOOP@202/CRITICAL@512 0:0 exec 4/1 enter 1 body 2/1 bar 0 exit 1 child 0`},
	{name: "libomp: sections by the static schedule, three for two threads",
		events: `
		0 1 fork parallel rt=k fn=300 loc=30
		0 1 begin parallel rt=k key=7 num=0 size=2
		0 2 begin parallel rt=k key=7 num=1 size=2
		1 1 open loop rt=k site=500 loc=400 v=3
		1 2 open loop rt=k site=500 loc=400 v=3
		5 1 close loop rt=k
		4 2 close loop rt=k
		5 1 wait barrier rt=k loc=42
		4 2 wait barrier rt=k loc=42
		6 1 waited barrier rt=k
		6 2 waited barrier rt=k
		9 1 end parallel rt=k
		9 2 end parallel rt=k
		9 1 join parallel rt=k`,
		want: `PARALLEL@30 0:0 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 5
		       PARALLEL@30 0:1 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 5
		       PARALLEL@30/SECTIONS@400 0:0 exec 5/1 enter 0 body 4/2 bar 1 exit 0 child 0
		       PARALLEL@30/SECTIONS@400 0:1 exec 5/1 enter 0 body 3/1 bar 2 exit 0 child 0`},
	{name: "libomp: the loop's reduction is its barrier, for those that get 0 and the one that combines",
		events: `
		0 1 open loop rt=k site=500 loc=202
		5 1 close loop rt=k
		6 1 wait reduction-barrier rt=k loc=12
		9 1 result reduction-barrier rt=k v=1
		10 1 wait reduction-barrier rt=k loc=12
		12 1 waited reduction-barrier rt=k
		20 1 open loop rt=k site=500 loc=202
		25 1 close loop rt=k
		26 1 wait reduction-barrier rt=k loc=12
		30 1 result reduction-barrier rt=k v=0`,
		want: `LOOP@202 0:0 exec 22/2 enter 0 body 12/2 bar 10 exit 0 child 0`},
	{name: "libomp: if(0) starts its body at once; the library's own calls are told twice",
		events: `
		0 1 fork parallel rt=k loc=30 site=300 atonce noret
		5 1 end parallel rt=k inside
		6 1 join parallel rt=k inside
		10 1 fork parallel rt=k fn=310 loc=31
		11 1 begin parallel rt=k key=7 num=0 size=1
		15 1 end parallel rt=k
		16 1 end parallel rt=k inside
		17 1 join parallel rt=k inside
		18 1 join parallel rt=k`,
		want: `PARALLEL@30 0:0 exec 6/1 enter 0 body 5/1 bar 0 exit 1 child 0
		       PARALLEL@31 0:0 exec 8/1 enter 1 body 4/1 bar 0 exit 3 child 0`},
	{name: "libomp: beyond the kernel's return probes the library's own calls end the region",
		events: `
		10 1 fork parallel rt=k fn=310 loc=31 noret
		11 1 begin parallel rt=k key=7 num=0 size=1 noret
		16 1 end parallel rt=k inside
		17 1 join parallel rt=k inside`,
		want: `PARALLEL@31 0:0 exec 7/1 enter 1 body 5/1 bar 0 exit 1 child 0`},
	{name: "libomp: the barrier after a loop's reduction is the loop's, and the way to it",
		events: `
		0 1 open loop rt=k site=500 loc=202
		5 1 close loop rt=k
		5 1 wait reduction-barrier rt=k loc=12
		9 1 result reduction-barrier rt=k v=0
		12 1 wait barrier rt=k loc=42
		20 1 waited barrier rt=k`,
		want: `LOOP@202 0:0 exec 20/1 enter 0 body 5/1 bar 15 exit 0 child 0`},
	{name: "libomp: the reduction of a loop that was not seen to begin is one barrier with the one behind it",
		events: `
		5 1 wait reduction-barrier rt=k loc=12
		9 1 result reduction-barrier rt=k v=1
		10 1 wait reduction-barrier rt=k loc=12
		14 1 waited reduction-barrier rt=k
		17 1 wait barrier rt=k loc=42
		20 1 waited barrier rt=k
		30 1 wait reduction-barrier rt=k loc=12
		34 1 result reduction-barrier rt=k v=0
		37 1 wait barrier rt=k loc=22
		40 1 waited barrier rt=k`,
		want: `BARRIER@12 0:0 exec 19/2 enter 0 body 0/0 bar 0 exit 0 child 0
		       BARRIER@22 0:0 exec 3/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
}
