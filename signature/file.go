package signature

import (
	"encoding/json"
	"fmt"
	"io"
)

// Write writes the signature as JSON.
func (s *Signature) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

// mostBytes bounds what Read takes: a signature has some kilobytes per region.
const mostBytes = 256 << 20

// Read reads a signature. It refuses other files, and figures that no run has, with one sentence.
func Read(r io.Reader) (*Signature, error) {
	b, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the signature: %w", err)
	}
	if len(b) > mostBytes {
		return nil, fmt.Errorf("this is no signature: the file has more than %d MiB", mostBytes>>20)
	}
	// The version first: another version may have other types.
	var head struct {
		Version    int    `json:"version"`
		Accounting string `json:"accounting"`
	}
	if err := json.Unmarshal(b, &head); err != nil || head.Accounting == "" {
		return nil, fmt.Errorf("this is no signature: give a file that ompp-attach signature has written")
	}
	if head.Version != Version {
		return nil, fmt.Errorf("the signature has version %d, this ompp-attach reads version %d: write it anew with ompp-attach signature", head.Version, Version)
	}
	s := new(Signature)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("the signature is damaged: %w", err)
	}
	const mostRanks = 1 << 24
	if s.Ranks < 1 || s.Ranks > mostRanks || s.Missing < 0 || s.Missing > mostRanks ||
		s.Times != nil && (!s.Times.Sound() || s.Times.Ranks != s.Ranks && s.Times.Ranks != s.Ranks+s.Missing) {
		return nil, fmt.Errorf("the signature is damaged: it has %d ranks, or times that no run has", s.Ranks)
	}
	if s.Times != nil {
		s.Times.Ranks = s.Ranks + s.Missing // older versions did not count missing ranks
	}
	for _, g := range s.Regions {
		if g.Executions.Mean < 0 {
			return nil, fmt.Errorf("the signature is damaged: region %d was executed less than 0 times", g.Region)
		}
	}
	for _, c := range s.Calls {
		for _, n := range []Spread{c.Calls, c.Sends, c.Receives, c.Collectives, c.Sent, c.Received} {
			if n.Mean < 0 {
				return nil, fmt.Errorf("the signature is damaged: call site %d has figures below 0", c.Region)
			}
		}
	}
	return s, nil
}
