package bpf

import "fmt"

// NewEra forgets what is known of the threads' nesting: they were not followed
// for a while.
func (p *Probes) NewEra() error {
	v := p.coll.Variables[probeVarEra]
	var era uint32
	if err := v.Get(&era); err != nil {
		return fmt.Errorf("read the era: %w", err)
	}
	if err := v.Set(era + 1); err != nil {
		return fmt.Errorf("begin a new era: %w", err)
	}
	return nil
}

// Unheeded returns how often a process's wish for no reports could not be noted
// because too many others have it: it is measured on.
func (p *Probes) Unheeded() (n uint32) {
	_ = p.coll.Variables[probeVarUnheeded].Get(&n)
	return n
}

// Hear lets a process be heard again that switched its reports off: it runs
// another program now, or its number is a new process's.
func (p *Probes) Hear(pid int) { _ = p.coll.Maps[probeMapSilent].Delete(uint32(pid)) }
