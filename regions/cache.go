package regions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"ompp-attach/files"
	"ompp-attach/symbols"
)

// maxCached bounds the size of a cache file that is read. The file of a program with 10,000 regions
// has some 10 MB.
const maxCached = 256 << 20

// BuildCached is Build with a cache: it keeps the table in the user's cache directory, by build id.
// The table holds as long as this program, the sources that were used or missing, and the directory
// to search them in (source) stay the same. If the cache cannot be used, the table is built.
func BuildCached(o *symbols.Object, source string) (*Table, error) {
	c, ok := openCache(o, source)
	if ok {
		defer c.dir.Close()
		if t, ok := c.read(o); ok {
			return t, nil
		}
	}
	t, err := Build(o)
	if err == nil && ok {
		_ = c.write(t) // the next look takes as long as this one
	}
	return t, err
}

// cache is the place of an object's table in the cache.
type cache struct {
	dir   *os.Root
	owner int // of the directory, beside us the only one to be believed
	group int
	name  string
}

// openCache finds an object's place in the cache. ok is false if the object has no build id, or the
// user no cache.
func openCache(o *symbols.Object, source string) (c cache, ok bool) {
	id := o.BuildID()
	above, err := os.UserCacheDir()
	if id == "" || err != nil {
		return c, false
	}
	self, err := os.Executable()
	if err != nil {
		return c, false
	}
	st, err := os.Stat(self)
	if err != nil {
		return c, false
	}
	if source != "" {
		if source, err = filepath.Abs(source); err != nil {
			return c, false
		}
	}
	// The separate debug file may come or go. strip keeps the build id.
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d\x00%t\x00%t", id, source, st.ModTime().UnixNano(), st.Size(),
		o.HasDWARF(), o.Stripped()))
	c.name = hex.EncodeToString(sum[:16]) + ".json"
	return c, c.open(filepath.Join(above, "ompp-attach", "regions")) == nil
}

// open opens the cache. If root uses the home of another user, links that this user has put there
// are not followed, and the new files belong to this user.
func (c *cache) open(path string) (err error) {
	way := files.Way{Make: 0o700, Owner: func(above *unix.Stat_t) (int, int, bool) {
		return int(above.Uid), int(above.Gid), os.Geteuid() == 0
	}}
	if c.dir, _, err = way.Open(path); err != nil {
		return err
	}
	st, err := c.dir.Stat(".")
	if err == nil {
		sys, ok := st.Sys().(*syscall.Stat_t)
		if !ok || st.Mode().Perm()&0o022 != 0 || int(sys.Uid) != os.Geteuid() && os.Geteuid() != 0 {
			err = files.ErrUnsafe
		} else {
			c.owner, c.group = int(sys.Uid), int(sys.Gid)
		}
	}
	if err != nil {
		c.dir.Close()
	}
	return err
}

// read returns a table if it still holds. A damaged file counts as no file.
func (c *cache) read(o *symbols.Object) (*Table, bool) {
	b, err := files.ReadIn(c.dir, c.name, maxCached, os.Geteuid(), c.owner)
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

// write replaces the file in one step, so that nobody reads half of it.
func (c *cache) write(t *Table) error {
	b, err := json.Marshal(t)
	if err == nil {
		err = files.Save(c.dir, c.name, b, func(f *os.File) error {
			if os.Geteuid() != 0 {
				return nil
			}
			return f.Chown(c.owner, c.group)
		})
	}
	if err != nil {
		return fmt.Errorf("cache of regions: %w", err)
	}
	return nil
}
