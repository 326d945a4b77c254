package bpf

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

func TestHitCounterLoads(t *testing.T) {
	c, err := LoadHitCounter(3, 0x1000, 0x2000)
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if hits, err := c.Hits(2); err != nil || len(hits) != 0 {
		t.Errorf("hits of a point that is not placed: %v, %v", hits, err)
	}
	if _, err := c.Hits(3); err == nil {
		t.Error("a point that was not announced has hits")
	}
}
