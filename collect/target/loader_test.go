package target

import (
	"debug/elf"
	"os/exec"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// loaderOf starts a program, and returns its dynamic loader as the process maps it.
func loaderOf(t *testing.T) (loader *symbols.Module) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	testbin.Until(t, "the process has a loader", func() bool {
		mods, _ := symbols.Modules(cmd.Process.Pid)
		for i := range mods {
			if IsLoader(&mods[i]) {
				loader = &mods[i]
			}
		}
		return loader != nil
	})
	return loader
}

// A loader is probed at the beginning of its function for debuggers; the state of the list is the
// fourth word of _r_debug. debug/elf tells where the two are.
func TestLoaderPoint(t *testing.T) {
	mod := loaderOf(t)
	at, err := LoaderPointOf(mod)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(mod.HostPath)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	value := map[string]elf.Symbol{}
	for _, s := range syms {
		value[s.Name] = s
	}
	fn, list := value["_dl_debug_state"], value["_r_debug"]
	if at.VAddr < fn.Value || at.VAddr >= fn.Value+max(fn.Size, 1) {
		t.Errorf("probed at %#x, the function is at %#x, %d bytes", at.VAddr, fn.Value, fn.Size)
	}
	if got := uint64(int64(at.VAddr) + at.State); list.Value != 0 && got != list.Value+24 {
		t.Errorf("the state is at %#x, want %#x", got, list.Value+24)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && at.VAddr >= p.Vaddr && at.VAddr < p.Vaddr+p.Filesz && at.Offset != at.VAddr-p.Vaddr+p.Off {
			t.Errorf("offset %#x of %#x", at.Offset, at.VAddr)
		}
	}
}
