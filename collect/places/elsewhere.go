package places

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// namesElsewhere lists files with regions if most of their debug information lies in other files.
// The tool does not read those other files.
func (r *Resolver) namesElsewhere() (out []profile.Unseen) {
	seen := map[*symbols.Object]bool{}
	for _, p := range r.bound {
		if p.module == nil || seen[p.object] || profile.IsCLibrary(p.module.Path) {
			continue
		}
		seen[p.object] = true
		if where := p.object.DWARFElsewhere(); where != "" {
			out = append(out, profile.Unseen{What: "names of inlined functions in " + filepath.Base(p.module.Path),
				Reason: fmt.Sprintf("most of the debug information is %s, and is not read. Constructs in inlined functions are shown in the function around them. A region's last line may be of an inlined function", where)})
		}
	}
	slices.SortFunc(out, func(a, b profile.Unseen) int { return cmp.Compare(a.What, b.What) })
	return out
}
