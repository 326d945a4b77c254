package results

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ompp-attach/collect/launch"
	"ompp-attach/files"
)

// The ranks of a job write to one directory, from several nodes on a shared file system. Files of
// an older run in it must be refused or removed, but not files of other ranks of the same job. So
// the first of a job's collectors leaves a file in the directory, which marks the directory as the
// job's.

// claimPrefix begins the name of such a file; a hash of the job's name follows.
const claimPrefix = ".ompp-attach-job-"

// claimLimit bounds how long a collector waits for the collector of another node to go through the
// directory.
const claimLimit = 30 * time.Second

// staleAfter is the age from which files of killed tools are taken for useless.
const staleAfter = time.Hour

// Claims are the directories that a collector has claimed for its job.
type Claims struct {
	mu    sync.Mutex
	done  map[string]*Directory
	marks map[string]*mark
	ranks map[string]map[int]bool // by directory: the job's ranks that came to this collector
	size  int                     // of the job; 0: not known
	job   string                  // the launcher's name of it
	above map[int]bool            // see above
}

// Open prepares the directory that a rank's user has named; empty: has not. from is the directory
// to which relative paths refer, pid the rank's program. The first call for a directory claims it
// for the job.
func (c *Claims) Open(dir string, overwrite bool, r *launch.Rank, from string, pid int) (*Directory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	named := dir != ""
	if !named {
		const longest = 200 // a file's name has at most 255 bytes
		job := fileName(r.Job)
		dir = "ompp-job-" + job[max(0, len(job)-longest):]
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(from, dir)
	}
	if c.done[dir] == nil {
		o := &Directory{Dir: dir, named: named}
		if err := o.make(); err != nil {
			return nil, onHost(err)
		}
		if err := ProveWritable(dir); err != nil {
			return nil, onHost(o.Abandon(err))
		}
		if err := inTheWay(dir); err != nil {
			return nil, onHost(o.Abandon(err))
		}
		m := newMark(dir, r.Job)
		if err := claim(dir, r.Job, overwrite, m); err != nil {
			m.remove()
			return nil, o.Abandon(err)
		}
		if c.done == nil {
			c.done, c.ranks, c.marks = map[string]*Directory{}, map[string]map[int]bool{}, map[string]*mark{}
			c.above = map[int]bool{}
		}
		c.done[dir], c.ranks[dir], c.marks[dir] = o, map[int]bool{}, m
	}
	c.marks[dir].begins(pid)
	c.ranks[dir][r.Rank], c.size, c.job = true, r.Size, r.Job
	for _, p := range above(pid, r.Job) {
		c.above[p] = true
	}
	d := c.done[dir]
	// Not created: other ranks may still write to it.
	return &Directory{Dir: d.Dir, named: d.named, ours: d.ours, rank: r}, nil
}

// Ended notes that a rank's program has ended, and that its files are not written yet.
func (c *Claims) Ended(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.marks {
		m.ends(pid)
	}
}

// Leave removes the directories of a job that has written nothing, and the marks. If not all ranks
// came to this collector, the directory and its claim stay. Collectors of other nodes may still
// write there. Without the claim, the next collector would take their files for those of an older
// run.
func (c *Claims) Leave() {
	for _, m := range c.marks {
		m.remove()
	}
	for dir, o := range c.done {
		if len(c.ranks[dir]) != c.size {
			continue
		}
		if written := files.Matching(dir, RecordStem+".*"); len(written) > 0 {
			continue
		}
		marks := files.Matching(dir, claimPrefix+"*")
		for _, m := range marks {
			os.Remove(m)
		}
		_ = o.Abandon(nil)
	}
}

// onHost adds the name of this node to an error.
func onHost(err error) error {
	host, herr := os.Hostname()
	if err == nil || herr != nil {
		return err
	}
	return fmt.Errorf("on node %s: %w", host, err)
}

// fileName turns a job's name into a part of a file name.
func fileName(job string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '.', r == '-', r == '_', r == '@':
			return r
		}
		return '_'
	}, job)
}

// claim marks a directory as the job's. The collector that creates the file clears the directory,
// and then writes the job's name into the file. The others wait for that. own is the collector's
// mark in the directory; nil: it has none.
func claim(dir, job string, overwrite bool, own *mark) error {
	return claimIn(dir, job, overwrite, own, claimLimit)
}

// claimName is the name of the file that marks a directory as the job's.
func claimName(job string) string {
	sum := sha256.Sum256([]byte(job))
	return claimPrefix + hex.EncodeToString(sum[:8])
}

func claimIn(dir, job string, overwrite bool, own *mark, limit time.Duration) error {
	name := filepath.Join(dir, claimName(job))
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			// Ranks of a job without a name have other names on other nodes. So the measurement
			// that is under way may be that of the same job.
			if !strings.HasPrefix(job, launch.NamelessPrefix) {
				err = inUse(dir, own)
			}
			if err == nil {
				err = clear(dir, name, overwrite)
			}
			if uid, gid, ok := sudoUser(); ok && err == nil {
				err = file.Chown(uid, gid)
			}
			if err == nil {
				_, err = fmt.Fprintln(file, job)
			}
			file.Close()
			if err != nil {
				os.Remove(name)
			}
			return err
		}
		if !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("cannot write to %s: %w", dir, errors.Unwrap(err))
		}
		st, err := os.Lstat(name)
		switch {
		case err == nil && st.Size() > 0:
			return nil
		case err == nil && (time.Since(began) > limit || time.Since(st.ModTime()) > staleAfter):
			release(name) // its creator was killed meanwhile
		}
	}
}

// release removes a claim that was not finished, unless somebody has finished it just now.
func release(name string) {
	aside := fmt.Sprintf("%s.%x", name, rand.Uint64())
	if os.Rename(name, aside) != nil {
		return
	}
	if st, err := os.Lstat(aside); err == nil && st.Size() > 0 {
		_ = os.Rename(aside, name)
		return
	}
	_ = os.Remove(aside)
}

// clear removes or refuses what an older run has left in a directory. own is the claim of this job.
func clear(dir, own string, overwrite bool) error {
	old := files.Matching(dir, RecordStem+"*"+RecordSuffix)
	if len(old) > 0 && !overwrite {
		return fmt.Errorf("%s already holds profiles: give another directory with -o, or --overwrite to replace them", dir)
	}
	if old := files.Matching(dir, RecordStem+"*"+TimelineSuffix); len(old) > 0 && !overwrite {
		return fmt.Errorf("%s already holds timelines: give another directory with -o, or --overwrite to replace them", dir)
	}
	if overwrite {
		if err := removeOld(dir); err != nil {
			return err
		}
	}
	others := files.Matching(dir, claimPrefix+"*")
	for _, o := range others {
		if o != own {
			os.Remove(o)
		}
	}
	return nil
}
