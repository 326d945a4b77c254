package bpf

import "fmt"

// recCoreWait marks a record of how long a thread was ready to run and had no
// core (core_wait.h).
const recCoreWait = uint16(probeRecordFlagREC_CORE_WAIT)

// CoreWait says how long a thread was ready to run but had no core.
type CoreWait struct {
	Time     uint64 // CLOCK_MONOTONIC, ns
	PID, TID uint32
	More     uint64 // ns, since the thread's last CoreWait
	InCall   uint64 // ns, the part of More in the MPI call whose record follows
	First    bool   // the thread's first CoreWait: More counts from the thread's beginning
}

// TellCoreWaits makes threads report their times without a core from now on.
func (p *Probes) TellCoreWaits() error {
	if err := p.coll.Variables[probeVarTellingCoreWaits].Set(uint32(1)); err != nil {
		return fmt.Errorf("ask threads how long they wait for a core: %w", err)
	}
	return nil
}

func coreWaitOf(r *Record) CoreWait {
	return CoreWait{Time: r.Time, PID: r.Pid, TID: r.Tid, More: r.A, InCall: r.B, First: r.Num == 0}
}
