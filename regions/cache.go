package regions

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"ompp-attach/cache"
	"ompp-attach/symbols"
)

// maxCached bounds the size of a cache file that is read. The file of a program with 10,000 regions
// has some 10 MB.
const maxCached = 256 << 20

// BuildCached is Build with a cache. The cache keeps the table in the user's cache directory, by
// build id. A table is valid as long as nothing changes: this program, the sources that were used
// or missing, and the directory in which sources are searched (source). If the cache cannot be
// used, BuildCached builds the table.
func BuildCached(o *symbols.Object, source string) (*Table, error) {
	k, ok := openCache(o, source)
	if ok {
		defer k.Close()
		if t, ok := k.read(o); ok {
			return t, nil
		}
	}
	t, err := Build(o)
	if err == nil && ok {
		_ = k.write(t) // on failure, the next call takes as long as this one
	}
	return t, err
}

// kept is the file of an object's table in the cache.
type kept struct {
	*cache.Cache
	name string
}

// openCache finds the cache file of an object. ok is false if the object has no build id, or if the
// user has no cache.
func openCache(o *symbols.Object, source string) (k kept, ok bool) {
	id := o.BuildID()
	if id == "" {
		return k, false
	}
	var err error
	if source != "" {
		if source, err = filepath.Abs(source); err != nil {
			return k, false
		}
	}
	// The separate debug file may come or go. strip keeps the build id.
	if k.name, err = cache.Key(id, source, o.HasDWARF(), o.Stripped()); err != nil {
		return k, false
	}
	k.Cache, err = cache.Open("regions")
	return k, err == nil
}

// read returns the table from the cache if it is still valid. A damaged file counts as missing.
func (k *kept) read(o *symbols.Object) (*Table, bool) {
	b, err := k.Read(k.name, maxCached)
	if err != nil {
		return nil, false
	}
	t := &Table{}
	if json.Unmarshal(b, t) != nil || len(t.Regions) == 0 {
		return nil, false
	}
	for i := range t.Regions {
		if p := t.Regions[i].Parent; p < -1 || p >= len(t.Regions) || t.Regions[i].Depth < 0 || t.Regions[i].Depth > len(t.Regions) {
			return nil, false
		}
	}
	for _, s := range t.Sources {
		o.Directives(s.Name)
	}
	now := o.Sources()
	if !slices.EqualFunc(now, t.Sources, func(a, b symbols.Source) bool {
		return a.Time.Equal(b.Time) && a.Name == b.Name && a.Path == b.Path && a.Newer == b.Newer && a.Used == b.Used && a.Size == b.Size
	}) {
		return nil, false
	}
	t.index()
	return t, true
}

// write keeps a table.
func (k *kept) write(t *Table) error {
	b, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("cache of regions: %w", err)
	}
	return k.Write(k.name, b)
}
