// Package cache keeps what was found out about files for later runs, in the user's cache directory.
// Nothing depends on it: what cannot be read is found out anew.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/files"
)

// mostFiles bounds the files of one kind. Beyond it, the oldest make room.
const mostFiles = 256

// ErrDamaged says that a file of the cache is not as it was written.
var ErrDamaged = errors.New("damaged file of the cache")

// Cache is the place of one kind of results.
type Cache struct {
	dir   *os.Root
	owner int // of the directory, beside us the only one to be believed
	group int
}

// Open opens the cache of one kind of results, and makes it if there is none. If root uses the home
// of another user, links that this user has put there are not followed, and new files belong to
// this user. The error says why there is no cache.
func Open(kind string) (*Cache, error) {
	above, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	way := files.Way{Make: 0o700, Owner: func(above *unix.Stat_t) (int, int, bool) {
		return int(above.Uid), int(above.Gid), os.Geteuid() == 0
	}}
	c := &Cache{}
	if c.dir, _, err = way.Open(filepath.Join(above, "ompp-attach", kind)); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
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
		return nil, fmt.Errorf("cache: %w", err)
	}
	return c, nil
}

// Close frees the cache.
func (c *Cache) Close() { c.dir.Close() }

// Ours reports whether nobody else can write to the cache. Otherwise root uses another user's.
func (c *Cache) Ours() bool { return c.owner == os.Geteuid() }

// Key is the name of the file for a result that depends on all of the parts, and on this program.
// The error says why the program cannot be told from others.
func Key(parts ...any) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	st, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	h := sha256.New()
	for _, p := range slices.Concat([]any{st.ModTime().UnixNano(), st.Size()}, parts) {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]) + ".json", nil
}

// Read returns a result of at most so many bytes. The error wraps ErrDamaged or fs.ErrNotExist if
// that is the reason.
func (c *Cache) Read(name string, most int64) ([]byte, error) {
	b, err := files.ReadIn(c.dir, name, most+sha256.Size, os.Geteuid(), c.owner)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	if len(b) < sha256.Size || [sha256.Size]byte(b) != sha256.Sum256(b[sha256.Size:]) {
		return nil, fmt.Errorf("%w: %s", ErrDamaged, name)
	}
	return b[sha256.Size:], nil
}

// Write keeps a result. Nobody reads half of it.
func (c *Cache) Write(name string, b []byte) error {
	sum := sha256.Sum256(b)
	err := files.Save(c.dir, name, slices.Concat(sum[:], b), func(f *os.File) error {
		if os.Geteuid() != 0 {
			return nil
		}
		return f.Chown(c.owner, c.group)
	})
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	c.removeOldest()
	return nil
}

// abandoned is the age at which a file that was never completed is removed.
const abandoned = time.Hour

// removeOldest keeps the cache within its bounds.
func (c *Cache) removeOldest() {
	list, err := fs.ReadDir(c.dir.FS(), ".")
	if err != nil || len(list) <= mostFiles {
		return
	}
	var all []fs.FileInfo
	for _, e := range list {
		st, err := e.Info()
		switch {
		case err != nil:
		case strings.HasPrefix(st.Name(), files.Prefix): // another run may be writing it
			if time.Since(st.ModTime()) > abandoned {
				_ = c.dir.Remove(st.Name())
			}
		default:
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, st := range all[:max(0, len(all)-mostFiles)] {
		_ = c.dir.Remove(st.Name()) // another run may have been faster
	}
}
