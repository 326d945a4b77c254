package bpf

import (
	"errors"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// kernelTypes is the kernel's type information, which takes some 20 ms to read:
// once for all programs.
var kernelTypes = btf.NewCache()

// anyKernel is the kernel version that programs state. Kernels from 5.0 on do not
// ask for it; the library would look for the true one in the process's own
// memory, which is closed to a program with capabilities of its file (setcap).
const anyKernel = 1

// newCollection loads maps, of which shared ones are there already, and then
// programs, several at a time: verifying them is most of the time that the tool
// takes to start. Meanwhile, if not nil, runs at the same time.
func newCollection(spec *ebpf.CollectionSpec, shared map[string]*ebpf.Map, meanwhile func(map[string]*ebpf.Map) error) (*ebpf.Collection, error) {
	// None of our types is a kernel module's, of which there may be hundreds.
	types, err := kernelTypes.Kernel()
	if err != nil {
		return nil, err
	}
	options := ebpf.CollectionOptions{MapReplacements: shared, Cache: kernelTypes, Programs: ebpf.ProgramOptions{KernelTypes: types}}
	only := func(name string) *ebpf.CollectionSpec {
		one := *spec
		one.Programs = map[string]*ebpf.ProgramSpec{} // before the others are copied
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
	if meanwhile != nil {
		add("", nil, meanwhile(coll.Maps))
	}
	wg.Wait()
	if len(errs) > 0 {
		coll.Close()
		return nil, errors.Join(errs...)
	}
	return coll, nil
}
