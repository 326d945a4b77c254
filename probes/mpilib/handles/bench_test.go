package handles

import (
	"testing"

	"ompp-attach/symbols"
)

// BenchmarkDerive measures the time for all accessors of an installed library whose symbols have
// been read.
func BenchmarkDerive(b *testing.B) {
	for name, file := range installed {
		b.Run(name, func(b *testing.B) {
			o, err := symbols.OpenObject(file)
			if err != nil {
				b.Skipf("%s is not installed: %v", name, err)
			}
			defer o.Close()
			for b.Loop() {
				if _, err := Derive(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEmulate measures the time for one communicator.
func BenchmarkEmulate(b *testing.B) {
	file := installed["MPICH"]
	o, err := symbols.OpenObject(file)
	if err != nil {
		b.Skipf("MPICH is not installed: %v", err)
	}
	defer o.Close()
	read := func(addr uint64, n int) (uint64, error) {
		if to, ok := o.Pointer(addr); ok && n == 8 {
			return to, nil
		}
		return 1, nil // initialised, referred to, of one process
	}
	for b.Loop() {
		if v, ok := Emulate(o, "MPI_Comm_size", 0x44000000, 0, read); !ok || v != 1 {
			b.Fatal(v, ok)
		}
	}
}
