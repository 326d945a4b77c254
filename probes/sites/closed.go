package sites

import (
	"fmt"
	"path/filepath"

	"ompp-attach/symbols"
)

// Closed tells whether all calls of static loops in a process are known. runtime is the process's
// libomp, and modules are all files that the process maps. The error says where there may be calls
// that nobody can find.
func Closed(runtime *symbols.Object, modules []symbols.Module) error {
	var files []file
	for i := range modules {
		files = append(files, file{filepath.Base(modules[i].Path), modules[i].Object()})
	}
	return closed(runtime, files)
}

// Spared returns how many calls in the files that a process maps need no probe.
func Spared(modules []symbols.Module) (n int) {
	for i := range modules {
		n += Of(modules[i].Object()).Spared
	}
	return n
}

// file is a file that a process maps.
type file struct {
	name string
	*symbols.Object
}

func closed(runtime *symbols.Object, files []file) error {
	if err := callsNoneItself(runtime); err != nil {
		return err
	}
	for _, f := range files {
		name, o := f.name, f.Object
		if o == runtime {
			continue
		}
		for _, finder := range []string{"dlsym", "dlvsym"} {
			if o.Imports(finder) {
				return fmt.Errorf("%s may find functions by %s", name, finder)
			}
		}
		for _, entry := range entries {
			if o.Exports(entry) {
				return fmt.Errorf("%s has a function %s, too", name, entry)
			}
		}
		if c := Of(o); c.Open != "" {
			return fmt.Errorf("%s: %s", name, c.Open)
		}
	}
	return nil
}

var own symbols.Memo[error]

// callsNoneItself tells whether a libomp calls its own entry points, or hands out their addresses.
// Then there are calls that do not come from the program's files.
func callsNoneItself(runtime *symbols.Object) error {
	return own.Of(runtime, func(o *symbols.Object) error {
		if o.Arch() != "amd64" || o.IsExecutable() {
			return fmt.Errorf("calls are found in dynamically linked programs on x86-64 only")
		}
		own := o.Targets(entries...)
		refs := o.References(own)
		if len(refs.Branches) > 0 {
			return fmt.Errorf("the runtime may call its own function at %#x", refs.Branches[0])
		}
		if at, ok := denoted(o, refs.Others, own); ok {
			return fmt.Errorf("the runtime's code at %#x may take the address of its function", at)
		}
		for _, name := range entries {
			for _, vaddr := range o.Symbol(name) {
				if o.PointedTo(vaddr) {
					return fmt.Errorf("the runtime has a pointer to %s", name)
				}
			}
		}
		return nil
	})
}
