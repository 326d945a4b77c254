package bpf

import (
	"errors"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// kernelTypes holds the kernel's type information. Reading it takes some 20 ms, so all programs
// share it.
var kernelTypes = btf.NewCache()

// anyKernel is the kernel version that programs state. Kernels from 5.0 on ignore it. Without it
// the ebpf library would look for the true version in its own process's memory (/proc/self/mem). A
// program with file capabilities (setcap) may not read that.
const anyKernel = 1

// newCollection loads maps and then programs, several programs at a time: most of the tool's start
// is spent on verifying them. Maps in shared exist already and are used instead of new ones.
func newCollection(spec *ebpf.CollectionSpec, shared map[string]*ebpf.Map) (*ebpf.Collection, error) {
	// The kernel's own types suffice: the programs use no types of modules, of which there may be
	// hundreds.
	types, err := kernelTypes.Kernel()
	if err != nil {
		return nil, err
	}
	takeOnDemand(spec)
	options := ebpf.CollectionOptions{MapReplacements: shared, Cache: kernelTypes, Programs: ebpf.ProgramOptions{KernelTypes: types}}
	only := func(name string) *ebpf.CollectionSpec {
		one := *spec
		one.Programs = map[string]*ebpf.ProgramSpec{} // so that Copy does not copy the others
		if p := spec.Programs[name]; p != nil {
			p.KernelVersion = anyKernel
			one.Programs[name] = p
		}
		return one.Copy()
	}
	coll, err := ebpf.NewCollectionWithOptions(only(""), options)
	if err != nil {
		return nil, err
	}
	options.MapReplacements = coll.Maps
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	add := func(name string, p *ebpf.Program, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			errs = append(errs, err)
		} else if p != nil {
			coll.Programs[name] = p
		}
	}
	for name := range spec.Programs {
		one := only(name)
		wg.Go(func() {
			c, err := ebpf.NewCollectionWithOptions(one, options)
			if err != nil {
				add(name, nil, err)
				return
			}
			add(name, c.DetachProgram(name), nil)
			c.Close()
		})
	}
	wg.Wait()
	if len(errs) > 0 {
		coll.Close()
		return nil, errors.Join(errs...)
	}
	return coll, nil
}
