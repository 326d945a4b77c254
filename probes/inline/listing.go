package inline

import (
	"strings"
	"sync"

	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// listing holds a source file's directives, sorted once for all functions that were compiled from
// the file. There may be thousands of both.
type listing struct {
	all []directives.Directive
	// loops are directives that share out iterations. static are the loops whose code makes no
	// call, without parallel loops. masters are master and masked constructs. regions are
	// directives whose code becomes a function of its own.
	loops, static, masters, regions []*directives.Directive
}

func newListing(ds []directives.Directive) *listing {
	l := &listing{all: ds}
	for i := range ds {
		d := &ds[i]
		if isLoop(d) {
			l.loops = append(l.loops, d)
			if !d.HandsOut() && !strings.HasPrefix(d.Words, "parallel") {
				l.static = append(l.static, d)
			}
		}
		if d.Matches("master") || d.Matches("masked") {
			l.masters = append(l.masters, d)
		}
		if d.Matches("parallel") || d.Matches("task") {
			l.regions = append(l.regions, d)
		}
	}
	return l
}

// listings holds the listings of the files from which one program was compiled.
type listings struct {
	mu sync.Mutex
	of map[string]*listing
}

// get returns a file's listing. known says whether the file's directives are known.
func (l *listings) get(o *symbols.Object, file string) (found *listing, known bool) {
	ds, known := o.Directives(file)
	l.mu.Lock()
	defer l.mu.Unlock()
	if found = l.of[file]; found == nil {
		found = newListing(ds)
		l.of[file] = found
	}
	return found, known
}
