package inline

import (
	"strings"
	"sync"

	"ompp-attach/symbols"
)

// listing is a source file's directives, sorted out once for all functions that
// were compiled from it: there may be thousands of both.
type listing struct {
	all []symbols.Directive
	// loops share out iterations, static ones those whose code makes no call, of
	// which parallel loops are left out; masters are master and masked; regions
	// are what is moved into functions of its own.
	loops, static, masters, regions []*symbols.Directive
}

func newListing(ds []symbols.Directive) *listing {
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

// listings are those of the files from which one program was compiled.
type listings struct {
	mu sync.Mutex
	of map[string]*listing
}

// get returns a file's listing; known tells whether its directives are.
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
