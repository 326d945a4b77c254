package regions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ompp-attach/symbols"
)

// maxCached bounds the size of a cache file worth reading; that of a program
// with 10,000 regions has some 10 MB.
const maxCached = 256 << 20

// BuildCached is Build with a result that is kept, by build id, in the user's
// cache directory. It holds as long as the sources that were used or missing,
// the directory to search them in (source) and this program stay the same.
// Where the cache cannot be used, the table is built.
func BuildCached(o *symbols.Object, source string) (*Table, error) {
	name, ok := cacheFile(o, source)
	if ok {
		if t, ok := readCache(o, name); ok {
			return t, nil
		}
	}
	t, err := Build(o)
	if err == nil && ok {
		_ = writeCache(name, t) // the next look takes as long as this one
	}
	return t, err
}

// cacheFile names the cache file of an object; ok is false for one without a
// build id or a user without a cache.
func cacheFile(o *symbols.Object, source string) (name string, ok bool) {
	id := o.BuildID()
	dir, err := os.UserCacheDir()
	if id == "" || err != nil {
		return "", false
	}
	self, err := os.Executable()
	if err != nil {
		return "", false
	}
	st, err := os.Stat(self)
	if err != nil {
		return "", false
	}
	if source != "" {
		if source, err = filepath.Abs(source); err != nil {
			return "", false
		}
	}
	// The separate debug file may come or go, and strip keeps the build id.
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d\x00%t\x00%t", id, source, st.ModTime().UnixNano(), st.Size(),
		o.HasDWARF(), o.Stripped()))
	return filepath.Join(dir, "ompp-attach", "regions", hex.EncodeToString(sum[:16])+".json"), true
}

// readCache returns a table that is still right. A file that is not as written
// is as good as none.
func readCache(o *symbols.Object, name string) (*Table, bool) {
	st, err := os.Stat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxCached {
		return nil, false
	}
	b, err := os.ReadFile(name)
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

// writeCache replaces the file at once, so that nobody reads half of it.
func writeCache(name string, t *Table) error {
	b, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("cache of regions: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("cache of regions: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return fmt.Errorf("cache of regions: %w", err)
	}
	defer os.Remove(f.Name()) // of no effect once renamed
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("cache of regions: %w", err)
	}
	return nil
}
