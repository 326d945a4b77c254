package mpi

import (
	"errors"
	"testing"
)

// memory is little-endian words by address.
type memory map[uint64]uint64

func (m memory) read(addr uint64, n int) (uint64, error) {
	v, ok := m[addr]
	if !ok {
		return 0, errors.New("not mapped")
	}
	return v & (1<<(8*n) - 1), nil
}

func TestEval(t *testing.T) {
	m := memory{0x1010: 0x1122334455667788, 0x5008: 0x2000, 0x2040: 7, 0x5010: 0xffffffff80000000}
	byClass := Formula{
		{Mask: 0xf0, Equal: 0x10, Steps: []Step{{StepShiftRight, 8}, {StepAnd, 0xff}}},
		{Mask: 0xf0, Equal: 0x20, Steps: []Step{{StepLoad32, 0x10}}},
		{Steps: []Step{{StepConst, 99}}},
	}
	for _, tc := range []struct {
		name   string
		f      Formula
		handle uint64
		want   uint64
		ok     bool
	}{
		{"first case", byClass, 0xabcd10, 0xcd, true},
		{"second case, not mapped", byClass, 0x20, 0, false},
		{"last case", byClass, 0x30, 99, true},
		{"no case", byClass[:2], 0x30, 0, false},
		{"none at all", nil, 0x30, 0, false},
		{"handle itself", Formula{{}}, 5, 5, true},
		{"8 bits", Formula{{Steps: []Step{{StepLoad8, 0x10}}}}, 0x1000, 0x88, true},
		{"16 bits", Formula{{Steps: []Step{{StepLoad16, 0x10}}}}, 0x1000, 0x7788, true},
		{"32 bits", Formula{{Steps: []Step{{StepLoad32, 0x10}}}}, 0x1000, 0x55667788, true},
		{"64 bits", Formula{{Steps: []Step{{StepLoad64, 0x10}}}}, 0x1000, 0x1122334455667788, true},
		{"equal", Formula{{Steps: []Step{{StepEqual, 4}}}}, 4, 1, true},
		{"not equal", Formula{{Steps: []Step{{StepEqual, 4}}}}, 5, 0, true},
		{"sign", Formula{{Steps: []Step{{StepSignExtend32, 0}}}}, 0xffffffff, ^uint64(0), true},
		{"by the base", Formula{{Steps: []Step{{StepBase, 8}, {StepLoad64, 0}, {StepSave, 0}, {StepHandle, 0}, {StepMul, 16},
			{StepAddSaved, 0}, {StepLoad32, 0}}}}, 4, 7, true},
		{"two saved", Formula{{Steps: []Step{{StepSave, 0}, {StepAdd, 1}, {StepSave, 1}, {StepMulSaved, 0}, {StepAddSaved, 1}}}}, 6, 49, true},
		{"address from the handle and the base", Formula{{Steps: []Step{{StepAnd, 0xff}, {StepMul, 8}, {StepAddBase, 0}, {StepLoad32, 0}}}}, 0xff02, 0x80000000, true},
		{"too long", Formula{{Steps: make([]Step, MaxSteps+1)}}, 1, 0, false},
		{"unknown step", Formula{{Steps: []Step{{StepMulSaved + 1, 0}}}}, 1, 0, false},
	} {
		if got, ok := tc.f.Eval(tc.handle, 0x5000, m.read); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %#x, %v; want %#x, %v", tc.name, got, ok, tc.want, tc.ok)
		}
	}
}
