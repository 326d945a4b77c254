package main

import (
	"fmt"
	"os"
)

// attachTime is how long attaching lasts, from the start of the command until
// it says that it has attached, in ms.
type attachTime struct {
	runtime string
	ms      spread
}

// measureAttach attaches to the target of bench/programs/ops.c again and again.
func measureAttach(t target, dir string) (attachTime, error) {
	fmt.Fprintf(os.Stderr, "%s: attaching\n", t.runtime)
	a := attachTime{runtime: t.runtime}
	p, err := t.start()
	if err != nil {
		return a, err
	}
	defer p.stop()
	var all []float64
	for range *rounds {
		stop, took, err := attachTool(p.pid(), dir)
		if err != nil {
			return a, err
		}
		if err := stop(); err != nil {
			return a, err
		}
		all = append(all, float64(took)/1e6)
	}
	a.ms = spreadOf(all)
	return a, nil
}
