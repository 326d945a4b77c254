package bpf

import "fmt"

// recNoCore marks a record of how long a thread was ready to run and had no core (core_wait.h).
const recNoCore = uint16(probeRecordFlagREC_CORE_WAIT)

// NoCore says how long a thread was ready to run but had no core.
type NoCore struct {
	Time     uint64 // CLOCK_MONOTONIC, ns
	PID, TID uint32
	More     uint64 // ns, since the thread's last NoCore
	InCall   uint64 // ns, the part of More in the MPI call whose record follows
	First    bool   // the thread's first NoCore: More counts from the thread's beginning
}

// TellNoCore makes threads report their times without a core from now on.
func (p *Probes) TellNoCore() error {
	if err := p.coll.Variables[probeVarTellingCoreWaits].Set(uint32(1)); err != nil {
		return fmt.Errorf("ask threads how long they wait for a core: %w", err)
	}
	return nil
}

func noCoreOf(r *Record) NoCore {
	return NoCore{Time: r.Time, PID: r.Pid, TID: r.Tid, More: r.A, InCall: r.B, First: r.Num == 0}
}
