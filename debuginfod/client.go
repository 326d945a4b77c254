package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"ompp-attach/files"
)

// Limits of a client, unless DEBUGINFOD_MAXTIME (seconds) and DEBUGINFOD_MAXSIZE (bytes) set
// others.
const (
	maxTime = time.Minute // for all files together
	maxSize = 1 << 30     // of one file, in bytes
)

// ErrNone says that no server has the debug information of a build id.
var ErrNone = errors.New("no server has it")

// Client fetches debug information. It is safe for concurrent use.
type Client struct {
	Servers []string
	Cache   string // the directory of fetched files
	MaxSize int64
	MaxTime time.Duration
	Say     func(string) // is called with a line about each fetch; may be nil

	mu     sync.Mutex
	spent  time.Duration
	failed map[string]error // the error by build id: each is asked for once
}

// FromEnvironment returns the client that the user's environment describes (DEBUGINFOD_URLS and
// others), or nil if it names no server.
func FromEnvironment(getenv func(string) string) *Client {
	c := &Client{Cache: cacheDir(getenv), MaxSize: maxSize, MaxTime: maxTime}
	for _, url := range strings.Fields(getenv("DEBUGINFOD_URLS")) {
		// other words are elfutils' settings
		if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
			c.Servers = append(c.Servers, strings.TrimSuffix(url, "/"))
		}
	}
	if len(c.Servers) == 0 {
		return nil
	}
	if n, err := strconv.ParseInt(getenv("DEBUGINFOD_MAXSIZE"), 10, 64); err == nil && n > 0 {
		c.MaxSize = n
	}
	if n, err := strconv.ParseInt(getenv("DEBUGINFOD_MAXTIME"), 10, 32); err == nil && n > 0 {
		c.MaxTime = time.Duration(n) * time.Second
	}
	return c
}

// cacheDir is where elfutils' client keeps what it fetched (debuginfod_find_debuginfo(3)).
func cacheDir(getenv func(string) string) string {
	if dir := getenv("DEBUGINFOD_CACHE_PATH"); filepath.IsAbs(dir) {
		return dir
	}
	const name = "debuginfod_client"
	if os.Geteuid() == 0 {
		return filepath.Join("/var/cache", name)
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, name)
	}
	return filepath.Join(getenv("HOME"), ".cache", name)
}

// isBuildID reports whether an id is 8 to 128 hexadecimal digits, as servers know build ids. To
// compile a regular expression for that would take 2 ms at each start of the tool.
func isBuildID(id string) bool {
	return len(id) >= 8 && len(id) <= 128 && strings.Trim(id, "0123456789abcdef") == ""
}

const fileName = "debuginfo"

// Cached returns the debug file of a build id if it was fetched before.
func (c *Client) Cached(id string) (path string, ok bool) {
	if !isBuildID(id) {
		return "", false
	}
	path = filepath.Join(c.Cache, id, fileName)
	st, err := files.Stat(path)
	// elfutils marks a build id that no server had by an empty file.
	return path, err == nil && st.Mode().IsRegular() && st.Size() > 0
}

// Fetch returns the path of a build id's debug file. It asks the servers unless the file is in the
// cache. A failure is remembered and not tried again.
func (c *Client) Fetch(ctx context.Context, id string) (path string, err error) {
	if path, ok := c.Cached(id); ok {
		return path, nil
	}
	if !isBuildID(id) {
		return "", fmt.Errorf("debuginfod: %q is no build id", id)
	}
	c.mu.Lock() // one fetch at a time: the limit on time is for all of them together
	defer c.mu.Unlock()
	if err, known := c.failed[id]; known {
		return "", err
	}
	begin := time.Now()
	if c.spent >= c.MaxTime {
		return "", fmt.Errorf("debuginfod: the time for fetching (%s) is over", c.MaxTime)
	}
	ctx, cancel := context.WithTimeout(ctx, c.MaxTime-c.spent)
	defer cancel()
	err = ErrNone
	for _, server := range c.Servers {
		if err = c.get(ctx, server, id); err == nil || ctx.Err() != nil {
			break
		}
	}
	c.spent += time.Since(begin)
	if err != nil {
		err = fmt.Errorf("debuginfod: build id %s: %w", id, err)
		if c.failed == nil {
			c.failed = map[string]error{}
		}
		c.failed[id] = err
		return "", err
	}
	path, _ = c.Cached(id)
	return path, nil
}

// get fetches from one server.
func (c *Client) get(ctx context.Context, server, id string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/buildid/"+id+"/debuginfo", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return ErrNone
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answers %s", server, resp.Status)
	case resp.ContentLength > c.MaxSize:
		return fmt.Errorf("%d bytes are more than DEBUGINFOD_MAXSIZE permits (%d)", resp.ContentLength, c.MaxSize)
	}
	if c.Say != nil {
		c.Say(fmt.Sprintf("debuginfod: fetching debug information of build id %s from %s", id, server))
	}
	return c.keep(id, resp.Body)
}

// keep stores what a server sends in the cache, whole or not at all.
func (c *Client) keep(id string, body io.Reader) error {
	dir, _, err := (&files.Way{Make: 0o700}).Open(filepath.Join(c.Cache, id))
	if err != nil {
		return fmt.Errorf("keep debug information: %w", err)
	}
	defer dir.Close()
	tmp := fmt.Sprintf(".%s.%d", fileName, os.Getpid())
	_ = dir.Remove(tmp) // left by an earlier process with the same number
	f, err := dir.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep debug information: %w", err)
	}
	n, err := io.Copy(f, io.LimitReader(body, c.MaxSize+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && n > c.MaxSize {
		err = fmt.Errorf("it has more than %d bytes (DEBUGINFOD_MAXSIZE)", c.MaxSize)
	}
	if err == nil {
		err = dir.Rename(tmp, fileName)
	}
	if err != nil {
		_ = dir.Remove(tmp)
		return fmt.Errorf("keep debug information: %w", err)
	}
	return nil
}
