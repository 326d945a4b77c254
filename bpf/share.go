package bpf

import "fmt"

// sharedCookie is COOKIE_SHARED of shared.h: macros are not generated.
const sharedCookie = 1 << 32

// cookie returns the attach cookie of a point that is probed for one process, or for all (pid 0).
func cookie(p Point, pid int) uint64 {
	if pid == 0 {
		return sharedCookie | uint64(p.Row)
	}
	return uint64(p.Row)
}

// Share makes the probes that were attached with pid 0 measure a process.
func (p *Probes) Share(pid int) error {
	if err := p.coll.Maps[probeMapSharing].Put(uint32(pid), uint8(1)); err != nil {
		return fmt.Errorf("measure process %d by shared probes: %w", pid, err)
	}
	return nil
}

// Unshare undoes Share.
func (p *Probes) Unshare(pid int) { _ = p.coll.Maps[probeMapSharing].Delete(uint32(pid)) }

// Shares reports whether shared probes measure a process.
func (p *Probes) Shares(pid int) bool {
	var v uint8
	return p.coll.Maps[probeMapSharing].Lookup(uint32(pid), &v) == nil
}
