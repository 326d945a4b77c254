package accessor

import (
	"testing"

	"ompp-attach/symbols"
)

// installed are the MPI libraries that may be there, by what tells them apart.
var installed = map[string]string{
	"Open MPI": "/usr/lib/x86_64-linux-gnu/libmpi.so.40",
	"MPICH":    "/usr/lib/x86_64-linux-gnu/libmpich.so.12",
}

func TestDeriveInstalled(t *testing.T) {
	for name, file := range installed {
		t.Run(name, func(t *testing.T) {
			o, err := symbols.OpenObject(file)
			if err != nil {
				t.Skipf("%s is not installed: %v", name, err)
			}
			f, err := Derive(o)
			if err != nil {
				t.Error(err)
			}
			for _, p := range f.properties() {
				t.Logf("%v %+v", p.accessors, *p.formula)
			}
			t.Logf("world %+v", f.World)
		})
	}
}
