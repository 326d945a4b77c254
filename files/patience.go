package files

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// ErrStuck: a file system does not answer, as that of a server that is gone.
var ErrStuck = errors.New("its file system does not answer")

// How long a file system may take. A program may be stopped meanwhile. While one
// does not answer, others get half of the time, but not less than the least: the
// files of a job are mostly on one server.
const (
	longest  = 5 * time.Second
	shortest = 250 * time.Millisecond
	// mostStuck bounds the threads that wait in the kernel.
	mostStuck = 200
)

// patience knows the directories of files that are waited for.
type patience struct {
	mu    sync.Mutex
	stuck map[string]int
	calls int
	told  []string // files
}

var waiting = patience{stuck: map[string]int{}}

// limit is how long to wait for a file in a directory; not ok: it is known not
// to answer.
func (p *patience) limit(dir string) (d time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stuck[dir] > 0 || p.calls >= mostStuck {
		return 0, false
	}
	return max(longest>>min(p.calls, 8), shortest), true
}

// note counts a call that does not return, or has at last.
func (p *patience) note(dir string, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls += by
	if p.stuck[dir] += by; p.stuck[dir] == 0 {
		delete(p.stuck, dir)
	}
}

// mostTold bounds how many files are told of.
const mostTold = 8

// tell remembers a file that could not be read.
func (p *patience) tell(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.told) < mostTold && !slices.Contains(p.told, path) {
		p.told = append(p.told, path)
	}
}

// Stuck names files whose file system has not answered, the first ones of them.
func Stuck() []string {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	return slices.Clone(waiting.told)
}

// within calls the kernel about a file and waits for its answer, but not for
// ever. What comes too late is dropped.
func within[T any](op, path string, call func() (T, error), drop func(T)) (v T, err error) {
	dir := filepath.Dir(path)
	limit, ok := waiting.limit(dir)
	if !ok {
		return v, &fs.PathError{Op: op, Path: path, Err: ErrStuck}
	}
	type answer struct {
		v   T
		err error
	}
	came := make(chan answer, 1)
	go func() {
		v, err := call()
		came <- answer{v, err}
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case a := <-came:
		return a.v, a.err
	case <-late.C:
	}
	waiting.note(dir, 1)
	waiting.tell(path)
	go func() {
		a := <-came
		waiting.note(dir, -1)
		if a.err == nil && drop != nil {
			drop(a.v)
		}
	}()
	return v, &fs.PathError{Op: op, Path: path, Err: ErrStuck}
}
