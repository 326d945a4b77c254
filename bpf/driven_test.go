package bpf

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// step is one of the hits that drive makes in turns.
type step struct {
	row uint32
	ret bool // a hit at the return; else at the entry
}

// series describes hits that are made without a probe. The kernel side does on the tests' own
// threads what it does at a hit.
type series struct {
	steps []step // 1, 2, 4 or 8 steps
	count int
	// The registers at every hit: stack pointer, instruction pointer, first argument, and whether
	// the last comparison found its operands equal.
	sp, ip, arg uint64
	equal       bool
	slot        uint32 // below 256; threads that drive at the same time need different slots
}

// driven is the loaded kernel side, and beside it the program that makes hits (drive.bpf.c).
type driven struct {
	*Probes
	driver *ebpf.Collection
}

// loadDriven loads the kernel side as for a measurement, and the program that makes hits. It
// attaches nothing. That program works on the kernel side's maps and variables. Both objects have
// these, and the code of a hit, from the same headers (TestDriverIsTheProduct). The program needs
// number iterators (Linux 6.4). It may sleep, so the programs of the probes must be able to sleep,
// too (6.10).
func loadDriven() (*driven, error) {
	spec, err := loadDrive()
	if err != nil {
		return nil, err
	}
	p, err := LoadProbes(Session)
	if err != nil {
		return nil, err
	}
	if err := letSleep(spec, driveVarMaySleep); err != nil { // for maps of the same types
		return nil, err
	}
	d := &driven{Probes: p}
	shared := map[string]*ebpf.Map{}
	for name, m := range p.coll.Maps {
		if s := spec.Maps[name]; s != nil {
			shared[name] = m
			s.ValueSize = m.ValueSize() // .bss: the product has more variables, which follow
		}
	}
	if err := p.shareRings(spec, shared); err != nil {
		p.Close()
		return nil, err
	}
	if d.driver, err = newCollection(spec, shared); err != nil {
		p.Close()
		return nil, err
	}
	return d, nil
}

func (d *driven) Close() {
	d.driver.Close()
	d.Probes.Close()
}

// drive makes the hits on the calling thread.
func (d *driven) drive(h *series) error {
	v := driveDrive{Sp: h.sp, Ip: h.ip, Arg0: h.arg, Steps: uint32(len(h.steps)), Hits: uint32(h.count)}
	n := len(h.steps)
	if n == 0 || n > len(v.Row) || n&(n-1) != 0 {
		return fmt.Errorf("drive: %d steps cannot take turns", n)
	}
	if h.equal {
		v.Zero = 1
	}
	for i, s := range h.steps {
		v.Row[i] = s.row
		if s.ret {
			v.Returns |= 1 << i
		}
	}
	if err := d.driver.Maps[driveMapDrives].Put(h.slot, v); err != nil {
		return fmt.Errorf("drive: %w", err)
	}
	// The context is the program's one argument: the index in drives.
	if _, err := d.driver.Programs[driveProgOnDrive].Run(&ebpf.RunOptions{Context: h.slot}); err != nil {
		return fmt.Errorf("drive: %w", err)
	}
	return nil
}

// drivenProbes loads what drive needs, with a row that reports entry and return.
func drivenProbes(t testing.TB) (*driven, []*Ring, uint32) {
	t.Helper()
	d, err := loadDriven()
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Skipf("this kernel cannot drive probes: %v", err)
	}
	t.Cleanup(d.Close)
	if _, err := d.AddRow(Row{}); err != nil { // so that ours is not the first
		t.Fatal(err)
	}
	row, err := d.AddRow(Row{Flags: RowEntry | RowReturn, A: Arg(0)})
	if err != nil {
		t.Fatal(err)
	}
	rings, err := d.Rings()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, r := range rings {
			r.Close()
		}
	})
	return d, rings, row
}

// TestDriverIsTheProduct: each map and variable of the driver's object is in the product's object,
// and lies at the same place there. Functions that are called, and not inlined, have the same code
// in both.
func TestDriverIsTheProduct(t *testing.T) {
	product, err := loadProbe()
	if err != nil {
		t.Fatal(err)
	}
	driver, err := loadDrive()
	if err != nil {
		t.Fatal(err)
	}
	for name := range driver.Maps {
		if product.Maps[name] == nil && name != driveMapDrives {
			t.Errorf("the map %s is in no object of the product", name)
		}
	}
	for name, v := range driver.Variables {
		if p := product.Variables[name]; p == nil || p.SectionName != v.SectionName || p.Offset != v.Offset || p.Size() != v.Size() {
			t.Errorf("the variable %s lies elsewhere in the object of the product: %v, and not %v", name, p, v)
		}
	}
	functions := func(spec *ebpf.CollectionSpec, program string) map[string]string {
		code := map[string]string{}
		name := ""
		for _, ins := range spec.Programs[program].Instructions {
			if s := ins.Symbol(); s != "" {
				name = s
			}
			code[name] += fmt.Sprintln(ins)
		}
		return code
	}
	driven := functions(driver, driveProgOnDrive)
	same := 0
	for name, code := range functions(product, probeProgOnSession) {
		if other, ok := driven[name]; ok {
			same++
			if other != code {
				t.Errorf("the function %s is not that of the product", name)
			}
		}
	}
	if same == 0 {
		t.Error("the objects have no function in common")
	}
}
