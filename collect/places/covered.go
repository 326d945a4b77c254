package places

import (
	"fmt"
	"path/filepath"
	"slices"

	"ompp-attach/symbols"
)

// The engine knows constructs by their addresses. If a library is unloaded and another one is
// loaded there, constructs of the second one count as constructs of the first one at the same
// addresses.

// covered is a pair of files: the second one was loaded over constructs of the first one. The two
// may be one file at another address.
type covered struct{ was, is string } // paths

// noteCovered notes which new files lie over constructs that were seen.
func (r *Resolver) noteCovered(now []symbols.Module) {
	same := func(a, b *symbols.Module) bool {
		return a.Path == b.Path && a.Dev == b.Dev && a.Inode == b.Inode && a.Bias == b.Bias
	}
	var added []symbols.Module
	for i := range now {
		if m, ok := symbols.Find(r.mods, now[i].Start); !ok || !same(m, &now[i]) {
			added = append(added, now[i])
		}
	}
	if len(added) == 0 {
		return
	}
	for addr := range r.constructs {
		p := r.bound[addr]
		if m, ok := symbols.Find(added, addr); ok && p.module != nil && !same(p.module, m) {
			r.covered[covered{p.module.Path, m.Path}] = true
		}
	}
}

// Covered returns a sentence for each pair of files of which constructs may share rows.
func (r *Resolver) Covered() (sentences []string) {
	for c := range r.covered {
		sentences = append(sentences, fmt.Sprintf("%s was loaded where %s had been: where constructs of the two have the same address, they share a row, which names %[2]s.",
			filepath.Base(c.is), filepath.Base(c.was)))
	}
	slices.Sort(sentences)
	return slices.Compact(sentences)
}
