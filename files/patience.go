package files

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// ErrStuck says that a file system does not answer, such as that of a server that is gone.
var ErrStuck = errors.New("its file system does not answer")

// How long a file system may take to answer. A program may be stopped meanwhile. While one
// directory does not answer, the others get half of the time, but not less than shortest. The files
// of a job are mostly on one server.
const (
	longest  = 5 * time.Second
	shortest = 250 * time.Millisecond
	// mostStuck bounds how many threads may wait in the kernel.
	mostStuck = 200
)

// patience keeps the directories whose files are still waited for.
type patience struct {
	mu    sync.Mutex
	stuck map[string]int
	calls int
	told  []string // files that could not be read
}

var waiting = patience{stuck: map[string]int{}}

// limit returns how long to wait for a file in a directory. ok is false if the directory is known
// not to answer.
func (p *patience) limit(dir string) (d time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stuck[dir] > 0 || p.calls >= mostStuck {
		return 0, false
	}
	return max(longest>>min(p.calls, 8), shortest), true
}

// note counts the calls that wait for a directory. by is 1 for a call that does not return, and -1
// when the call has returned at last.
func (p *patience) note(dir string, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls += by
	if p.stuck[dir] += by; p.stuck[dir] == 0 {
		delete(p.stuck, dir)
	}
}

// mostTold bounds how many files Stuck names.
const mostTold = 8

// tell remembers a file that could not be read.
func (p *patience) tell(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.told) < mostTold && !slices.Contains(p.told, path) {
		p.told = append(p.told, path)
	}
}

// Stuck returns the first files whose file system has not answered.
func Stuck() []string {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	return slices.Clone(waiting.told)
}

// within makes a system call about a file, and waits for its result for a limited time. Then it
// returns ErrStuck; drop receives a result that comes too late.
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
