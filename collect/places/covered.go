package places

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"ompp-attach/symbols"
)

// The engine knows constructs by their addresses. If a library is unloaded and another one comes to
// lie there, the other one's constructs at the same addresses count as those of the first one.

// covered is a file that came to lie over the constructs of another one, or over other code of its
// own.
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

// Covered says, in a sentence for each pair of files, which constructs may stand at places of
// others.
func (r *Resolver) Covered() (sentences []string) {
	for c := range maps.Keys(r.covered) {
		sentences = append(sentences, fmt.Sprintf("Code of %s came to lie where code of %s had been: what the former executed at addresses of the latter's constructs is shown as the latter's.",
			filepath.Base(c.is), filepath.Base(c.was)))
	}
	slices.Sort(sentences)
	return slices.Compact(sentences)
}
