package probes

import (
	"os"
	"testing"
	"time"
)

func TestDump(t *testing.T) {
	o := openObject(t, os.Getenv("LIB"))
	t0 := time.Now()
	locate := locateGompTasks
	if os.Getenv("KMPC") != "" {
		locate = locateKmpcTasks
	}
	p, err := locate(o)
	t.Log(time.Since(t0))
	if err != nil {
		t.Fatal(err)
	}
	dump := func(what string, ps []taskPoint) {
		for _, x := range ps {
			t.Logf("%s %#x %v when %d reg %d in %s", what, x.VAddr, x.Cost, x.When, x.Reg, x.In)
		}
	}
	dump("created", p.Created)
	dump("begin", p.Begin)
	dump("end", p.End)
	for n, e := range p.Exits {
		dump("exit "+n, e)
	}
}
