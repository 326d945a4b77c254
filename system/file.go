package system

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// mostBytes bounds what Read takes: a profile of a large machine has some hundred kilobytes.
const mostBytes = 64 << 20

// Read reads a profile. It refuses files of other formats and versions with one sentence, and
// figures that no measurement gives.
func Read(r io.Reader) (*Profile, error) {
	b, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the system profile: %w", err)
	}
	if len(b) > mostBytes {
		return nil, fmt.Errorf("this is no system profile: the file has more than %d MiB", mostBytes>>20)
	}
	// The version first: another version may have other types.
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("this is no system profile: %w; write one with ompp-attach system", err)
	}
	if head.Format != Format {
		return nil, fmt.Errorf("this is no system profile: its format is %.40q; write one with ompp-attach system", head.Format)
	}
	if head.Version != Version {
		return nil, fmt.Errorf("the system profile has version %d, this ompp-attach reads version %d: measure again with ompp-attach system", head.Version, Version)
	}
	p := new(Profile)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("the system profile is damaged: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("the system profile is damaged: %w", err)
	}
	return p, nil
}

// Write writes the profile.
func (p *Profile) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// check finds what no measurement gives, and look-ups could not bear.
func (p *Profile) check() error {
	bad := func(f Figure) bool {
		return f.N < 1 || f.Error < 0 || math.IsNaN(f.Median) || math.IsInf(f.Median, 0)
	}
	for _, c := range p.OpenMP {
		if c.Threads < 1 || bad(c.Cost) {
			return fmt.Errorf("%s with %d threads is no measured cost", c.Construct, c.Threads)
		}
	}
	for _, c := range p.MPI {
		if c.Processes < 1 || bad(c.Cost) {
			return fmt.Errorf("%s with %d processes is no measured cost", c.Operation, c.Processes)
		}
	}
	for _, h := range p.Hybrid {
		if h.Threads < 1 || h.Communicating < 1 || h.Communicating > h.Threads || bad(h.Cost) {
			return fmt.Errorf("hybrid communication of %d of %d threads is no measured cost", h.Communicating, h.Threads)
		}
	}
	for _, r := range p.Compute {
		if r.Threads < 1 || bad(r.Rate) {
			return fmt.Errorf("kernel %q with %d threads is no measured rate", r.Kernel, r.Threads)
		}
	}
	return nil
}
