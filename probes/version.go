package probes

import (
	"strings"

	"ompp-attach/event"
)

// Version returns the library's version, "" if nothing tells it. For libgomp that is the newest
// interface version that the library defines. libomp states no version, so its newest entry points
// tell it. If the distribution left it in the file, the compiler's own note is added.
func (p *Plan) Version() string {
	var found []string
	switch p.Runtime {
	case event.Gomp:
		newest := ""
		for _, v := range p.Object.DefinedVersions() {
			if strings.HasPrefix(v, "GOMP_") && !strings.HasPrefix(v, "GOMP_PLUGIN") {
				newest = v // the file lists versions from the oldest to the newest
			}
		}
		if newest != "" {
			found = append(found, "interface "+newest)
		}
	case event.Kmpc:
		found = append(found, p.llvmVersion())
	}
	if c := p.Object.Producers(); len(c) > 0 {
		found = append(found, "built by "+c[0])
	}
	return strings.Join(found, ", ")
}

// llvmVersion finds the version by the release that brought an entry point.
func (p *Plan) llvmVersion() string {
	for _, brought := range []struct{ symbol, releases string }{
		{"__kmpc_dispatch_deinit", "LLVM 19 or newer"},
		{"__kmpc_fork_call_if", "LLVM 16 to 18"},
		{"__kmpc_sections_init", "LLVM 15"},
	} {
		if len(p.Object.Symbol(brought.symbol)) > 0 {
			return brought.releases
		}
	}
	return "LLVM 14 or older"
}
