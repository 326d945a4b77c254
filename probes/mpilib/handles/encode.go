package handles

import (
	"errors"
	"fmt"

	"ompp-attach/mpi"
)

// encoder turns a value into a formula's steps.
type encoder struct {
	*arena
	bias  *node
	steps []mpi.Step
}

var errShape = errors.New("its result is no sum of products and loads")

// encode returns the steps that compute a value.
func (m *explorer) encode(n *node) ([]mpi.Step, error) {
	e := encoder{arena: m.arena, bias: m.bias}
	if err := e.value(n, 0); err != nil {
		return nil, err
	}
	if len(e.steps) > 0 && e.steps[0].Op == mpi.StepHandle {
		e.steps = e.steps[1:] // the accumulator begins as the handle
	}
	if len(e.steps) > mpi.MaxSteps {
		return nil, fmt.Errorf("its result takes %d steps, at most %d are evaluated", len(e.steps), mpi.MaxSteps)
	}
	return e.steps, nil
}

func (e *encoder) step(op mpi.StepOp, v uint64) {
	e.steps = append(e.steps, mpi.Step{Op: op, Value: int64(v)})
}

// value adds steps that set the accumulator to n. They do not change the saved values in slots
// below saved.
func (e *encoder) value(n *node, saved int) error {
	switch n.op {
	case opConst:
		e.step(mpi.StepConst, n.k)
		return nil
	case opHandle:
		e.step(mpi.StepHandle, 0)
		return nil
	case opBase:
		e.step(mpi.StepBase, 0)
		return nil
	case opSum:
		return e.sum(n, saved)
	case opMul:
		return e.pair(n.a, n.b, mpi.StepMulSaved, saved)
	case opLoad:
		return e.load(n, saved)
	}
	if n.a == nil || n.b != nil {
		return errShape
	}
	if err := e.value(n.a, saved); err != nil {
		return err
	}
	switch n.op {
	case opAnd:
		e.step(mpi.StepAnd, n.k)
	case opShr:
		e.step(mpi.StepShiftRight, n.k)
	case opEq:
		e.step(mpi.StepEqual, n.k)
	case opSext:
		if n.k != 4 {
			return errShape
		}
		e.step(mpi.StepSignExtend32, 0)
	default:
		return errShape
	}
	return nil
}

var loads = map[uint64]mpi.StepOp{1: mpi.StepLoad8, 2: mpi.StepLoad16, 4: mpi.StepLoad32, 8: mpi.StepLoad64}

func (e *encoder) load(n *node, saved int) error {
	ts, off := n.a.split()
	biased := false
	for _, t := range ts {
		biased = biased || t.n == e.bias
	}
	if biased || len(ts) == 0 { // the offset is added together with the base
		if err := e.value(n.a, saved); err != nil {
			return err
		}
		e.step(loads[n.k], 0)
		return nil
	}
	if err := e.value(e.arena.sum(ts, 0), saved); err != nil {
		return err
	}
	e.step(loads[n.k], off)
	return nil
}

// heavy returns how many saved values the computation of n takes.
func (n *node) heavy() int {
	switch n.op {
	case opSum, opMul:
		ts := []term{{n.a, 1}, {n.b, 1}}
		if n.op == opSum {
			ts, _ = n.split()
		}
		most, ties := 0, 0
		for _, t := range ts {
			if t.n.op == opBase {
				continue
			}
			if h := t.n.heavy(); h > most {
				most, ties = h, 1
			} else if h == most {
				ties++
			}
		}
		if ties > 1 {
			most++
		} else if len(ts) > 1 && most == 0 {
			most = 1
		}
		return most
	}
	if n.a != nil {
		return n.a.heavy()
	}
	return 0
}

func (e *encoder) sum(n *node, saved int) error {
	ts, c := n.split()
	biased, first := false, -1
	var rest []term
	for _, t := range ts {
		if t.n == e.bias && t.k == 1 {
			biased = true
			continue
		}
		if rest = append(rest, t); first < 0 || t.n.heavy() > rest[first].n.heavy() {
			first = len(rest) - 1
		}
	}
	if first < 0 {
		e.step(mpi.StepBase, c)
		return nil
	}
	rest[0], rest[first] = rest[first], rest[0]
	for i, t := range rest {
		if i > 0 {
			if saved >= mpi.MaxSaved {
				return fmt.Errorf("its result takes more than %d saved values", mpi.MaxSaved)
			}
			e.step(mpi.StepSave, uint64(saved))
			saved++
		}
		if err := e.value(t.n, saved); err != nil {
			return err
		}
		if t.k != 1 {
			e.step(mpi.StepMul, t.k)
		}
		if i > 0 {
			saved--
			e.step(mpi.StepAddSaved, uint64(saved))
		}
	}
	switch {
	case biased:
		e.step(mpi.StepAddBase, c)
	case c != 0:
		e.step(mpi.StepAdd, c)
	}
	return nil
}

func (e *encoder) pair(a, b *node, op mpi.StepOp, saved int) error {
	if b.heavy() > a.heavy() {
		a, b = b, a
	}
	if saved >= mpi.MaxSaved {
		return fmt.Errorf("its result takes more than %d saved values", mpi.MaxSaved)
	}
	if err := e.value(a, saved); err != nil {
		return err
	}
	e.step(mpi.StepSave, uint64(saved))
	if err := e.value(b, saved+1); err != nil {
		return err
	}
	e.step(op, uint64(saved))
	return nil
}
