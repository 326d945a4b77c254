package target

import (
	"fmt"
	"path/filepath"
	"strings"

	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// loaderTells is the function by which a dynamic loader tells debuggers that it has changed the
// list of libraries.
const loaderTells = "_dl_debug_state"

// IsLoader tells whether a module is a dynamic loader. A static program has none.
func IsLoader(mod *symbols.Module) bool {
	return strings.HasPrefix(filepath.Base(mod.Path), "ld") && len(mod.Object().Symbol(loaderTells)) > 0
}

// LoaderPoint is where a loader can be probed when it has changed the list of libraries.
type LoaderPoint struct {
	VAddr  uint64
	Offset uint64 // of the instruction in the file
	State  int64  // where the list's state is, in bytes from VAddr; 0: not known
}

// LoaderPointOf returns where a loader can be probed. The module must be a loader.
func LoaderPointOf(mod *symbols.Module) (LoaderPoint, error) {
	o := mod.Object()
	sp, err := points.SafePoint(o, o.Symbol(loaderTells)[0], points.Need{})
	if err != nil {
		return LoaderPoint{}, fmt.Errorf("watch the loader %s: %w", mod.Path, err)
	}
	at := LoaderPoint{VAddr: sp.VAddr}
	var ok bool
	if at.Offset, ok = o.FileOffset(sp.VAddr); !ok {
		return LoaderPoint{}, fmt.Errorf("watch the loader %s: its code is not in its file", mod.Path)
	}
	const rState = 24 // struct r_debug (link.h): version, map, brk, state
	if v, ok := o.DataSymbol("_r_debug"); ok {
		at.State = int64(v + rState - sp.VAddr)
	}
	return at, nil
}
