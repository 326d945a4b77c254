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

// BuildCached is Build with a cache: it keeps the table in the user's cache directory, by build id.
// The table holds as long as this program and the sources that were used or missing stay the same.
// The directory to search the sources in (source) must also stay the same. If the cache cannot be
// used, the table is built.
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
		_ = k.write(t) // the next look takes as long as this one
	}
	return t, err
}

// kept is the place of an object's table in the cache.
type kept struct {
	*cache.Cache
	name string
}

// openCache finds an object's place in the cache. ok is false if the object has no build id, or the
// user no cache.
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

// read returns a table if it still holds. A damaged file counts as no file.
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
