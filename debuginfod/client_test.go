package debuginfod

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const id = "98cc42fdf4983ddb022bac1a40d888d930e6d59e"

// serve starts a server, and returns a client of it alone and how often it was asked.
func serve(t *testing.T, answer http.HandlerFunc) (*Client, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	env := map[string]string{"DEBUGINFOD_URLS": "ima:ignore " + s.URL + "/", "DEBUGINFOD_CACHE_PATH": filepath.Join(t.TempDir(), "cache"), "DEBUGINFOD_MAXSIZE": "1000"}
	return FromEnvironment(func(name string) string { return env[name] }), &asked
}

func TestFetch(t *testing.T) {
	c, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/buildid/"+id+"/debuginfo" {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte("symbols"))
	})
	if _, ok := c.Cached(id); ok {
		t.Fatal("the cache is not empty")
	}
	for range 2 { // the second time from the cache
		path, err := c.Fetch(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "symbols" {
			t.Fatalf("%q, %v", b, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the server was asked %d times, want once", n)
	}
	other := strings.Repeat("ab", 20)
	for range 2 {
		if _, err := c.Fetch(context.Background(), other); !errors.Is(err, ErrNone) {
			t.Errorf("%v, want that nobody has it", err)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the server was asked %d times, want once for each", n)
	}
}

// What a server does wrong ends in an error, in time, and leaves nothing behind.
func TestBadServer(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	for _, tc := range []struct {
		name, id string
		answer   http.HandlerFunc
	}{
		{"too large", id, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1001)) }},
		{"too large, unannounced", id, func(w http.ResponseWriter, _ *http.Request) {
			for range 20 {
				w.Write(make([]byte, 100))
				w.(http.Flusher).Flush()
			}
		}},
		{"never ends", id, func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte("sym"))
			w.(http.Flusher).Flush()
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}},
		{"breaks off", id, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("sym"))
		}},
		{"fails", id, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }},
		{"no build id", "../../../etc/passwd", func(http.ResponseWriter, *http.Request) {}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, _ := serve(t, tc.answer)
			c.MaxTime = 2 * time.Second
			if path, err := c.Fetch(context.Background(), tc.id); err == nil {
				t.Errorf("got %s, want an error", path)
			} else {
				t.Log(err)
			}
			left, err := filepath.Glob(filepath.Join(c.Cache, "*", "*"))
			hidden, herr := filepath.Glob(filepath.Join(c.Cache, "*", ".*info*"))
			if len(left)+len(hidden) > 0 || err != nil || herr != nil {
				t.Errorf("left in the cache: %v %v", left, hidden)
			}
		})
	}
}

// Nobody is asked unless the user has named servers.
func TestOffByDefault(t *testing.T) {
	for _, urls := range []string{"", " ", "ima:enforcing", "/srv/debug"} {
		if c := FromEnvironment(func(name string) string { return map[string]string{"DEBUGINFOD_URLS": urls}[name] }); c != nil {
			t.Errorf("%q makes a client of %v", urls, c.Servers)
		}
	}
}

func TestIsBuildID(t *testing.T) {
	for id, want := range map[string]bool{"0123abcd": true, strings.Repeat("f", 128): true, "0123abc": false, strings.Repeat("f", 129): false,
		"": false, "0123ABCD": false, "abcd/../../0123": false, "abcd0123 ": false} {
		if isBuildID(id) != want {
			t.Errorf("%q: %t", id, !want)
		}
	}
}
