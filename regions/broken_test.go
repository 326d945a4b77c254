package regions

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ompp-attach/internal/hostile"
	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

func seeds(t testing.TB) (files [][]byte) {
	for _, flags := range [][]string{{"-O2", "-g"}, {"-O1", "-s"}, {"-O2", "-g", "-fno-plt"}} {
		b, err := os.ReadFile(testbin.Build(t, "timed.c", testbin.Options{Flags: flags}))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

func query(b []byte) {
	o, err := symbols.NewObject(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	tab, err := Build(o)
	if err != nil {
		return
	}
	for i := range tab.Regions {
		for _, s := range tab.Regions[i].Sites {
			tab.At(s.Return)
			tab.Tail(o, tab.Regions[i].Code, tab.Regions[i].Construct)
		}
		tab.Function(tab.Regions[i].Outlined)
	}
}

func FuzzBuild(f *testing.F) {
	files := seeds(f)
	for i := range files {
		f.Add(uint8(i), []byte{})
	}
	f.Fuzz(func(_ *testing.T, which uint8, edits []byte) {
		hostile.Within(func() { query(hostile.ELF(files[int(which)%len(files)], edits)) })
	})
}

// TestBroken does a little of the fuzzing in every run.
func TestBroken(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, whole := range seeds(t) {
		for n := range 60 {
			b := bytes.Clone(whole)
			if n%4 == 0 {
				b = b[:rng.IntN(len(b))]
			}
			for range 1 + rng.IntN(200) {
				if len(b) > 0 {
					b[rng.IntN(len(b))] = byte(rng.Uint32())
				}
			}
			before := hostile.ProcessorTime()
			query(b)
			if d := hostile.ProcessorTime() - before; d > 20*time.Second {
				t.Errorf("a broken file of %d bytes took %v", len(b), d)
			}
		}
	}
}

// TestForms: calls are found in all forms in which compilers write them.
func TestForms(t *testing.T) {
	for _, flags := range [][]string{
		{"-O2", "-g", "-fno-plt"}, {"-O2", "-g", "-static"}, {"-O2", "-g", "-no-pie"}, {"-O2", "-g", "-static-pie"},
		{"-O2", "-g", "-flto"}, {"-O2", "-g", "-fcf-protection=full"},
	} {
		t.Run(flags[2], func(t *testing.T) {
			t.Parallel()
			tab := build(t, "timed.c", "", flags...)
			truth := readTruth(t, filepath.Join(testbin.Repo(t), "testdata", "programs", "timed.c"))
			for _, c := range truth {
				found := false
				for i := range tab.Regions {
					r := &tab.Regions[i]
					found = found || r.Begin == c.Begin && r.End == c.End && r.Type() == c.Type && (c.Type == "MASTER" || len(r.Sites) > 0)
				}
				if !found {
					t.Errorf("no %v", c)
				}
			}
			for i := range tab.Regions {
				if r := &tab.Regions[i]; filepath.Base(r.File) != "timed.c" {
					t.Errorf("%s in %q line %d", r.Type(), r.File, r.Begin)
				}
			}
		})
	}
}

// TestStripped: without symbols and lines, as many constructs with calls are found as with them.
func TestStripped(t *testing.T) {
	for _, compiler := range []string{"", "clang-14", "clang-19"} {
		full := build(t, "timed.c", compiler, "-O2", "-g")
		bare := table(t, open(t, testbin.Build(t, "timed.c", testbin.Options{Compiler: compiler, Flags: []string{"-O2", "-s"}})))
		count := func(tab *Table) map[string]int {
			n := map[string]int{}
			for i := range tab.Regions {
				r := &tab.Regions[i]
				switch r.Type() {
				case "PARALLEL", "PARALLEL LOOP", "PARALLEL SECTIONS": // these look alike
					n["PARALLEL"]++
				case "SINGLE", "CRITICAL", "ORDERED":
					n[r.Type()]++
				}
			}
			return n
		}
		if diff := cmp.Diff(count(full), count(bare)); diff != "" {
			t.Errorf("%s: regions (-full +stripped):\n%s", compiler, diff)
		}
	}
}

func TestCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o := open(t, testbin.Build(t, "timed.c", testbin.Options{}))
	want := table(t, o)
	look := func() *Table {
		t.Helper()
		got, err := BuildCached(o, "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Table{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("table (-built +cached):\n%s", diff)
		}
		return got
	}
	look()
	c, ok := openCache(o, "")
	if !ok {
		t.Skip("the program has no build id")
	}
	defer c.Close()
	name := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "ompp-attach", "regions", c.name)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.read(o); !ok {
		t.Fatal("the cache file just written is not believed")
	}
	if got := look(); len(want.Regions[0].Sites) > 0 {
		if r, ok := got.At(want.Regions[0].Sites[0].Return); !want.Regions[0].Sites[0].Tail && (!ok || r.Begin != want.Regions[0].Begin) {
			t.Error("a cached table does not find calls")
		}
	}
	for _, broken := range [][]byte{nil, []byte("{}"), whole[sha256.Size:][:len(whole)/2], []byte(`{"regions":[{"parent":7}]}`), []byte("\x00\xff")} {
		if err := c.Write(c.name, broken); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.read(o); ok {
			t.Errorf("%.30q is believed", broken)
		}
		look()
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	look()
}

// TestCacheOfOthers: root may run with the HOME of another user. Then the cache follows none of
// that user's links, uses no third user's files, waits for none of them, and leaves no file behind.
func TestCacheOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	const alice, mallory = 12345, 12346
	o := open(t, testbin.Build(t, "timed.c", testbin.Options{}))
	home, precious := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", home)
	if err := os.Chown(home, alice, alice); err != nil {
		t.Fatal(err)
	}
	owner := func(path string) int {
		st, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return int(st.Sys().(*syscall.Stat_t).Uid)
	}
	c, ok := openCache(o, "")
	if !ok {
		t.Fatal("no cache")
	}
	defer c.Close()
	if err := c.write(table(t, o)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, ".cache", "ompp-attach", "regions")
	file := filepath.Join(dir, c.name)
	for path := file; path != filepath.Dir(home); path = filepath.Dir(path) {
		if got := owner(path); got != alice {
			t.Errorf("%s belongs to %d", path, got)
		}
	}
	if _, ok := c.read(o); !ok {
		t.Error("what was written is not believed")
	}
	if err := os.Chown(file, mallory, mallory); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.read(o); ok {
		t.Error("a third user's file is believed")
	}
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o666), os.Chown(file, alice, alice)); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.read(o); ok {
		t.Error("a FIFO is believed")
	}
	for _, planted := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir), dir} {
		if err := errors.Join(os.RemoveAll(filepath.Join(home, ".cache")), os.MkdirAll(filepath.Dir(planted), 0o755),
			os.Symlink(precious, planted), os.Lchown(planted, alice, alice)); err != nil {
			t.Fatal(err)
		}
		if _, ok := openCache(o, ""); ok {
			t.Errorf("the link %s is followed", planted)
		}
		if _, err := BuildCached(o, ""); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(precious); len(left) > 0 {
		t.Errorf("%v was written where the links lead", left)
	}
}

// TestSources: a source that is newer than the program is not used. A source below the given
// directory is used.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	src, err := os.ReadFile(filepath.Join(testbin.Repo(t), "testdata", "programs", "timed.c"))
	if err != nil {
		t.Fatal(err)
	}
	bin := testbin.Build(t, "timed.c", testbin.Options{Flags: []string{"-O2", "-g", "-fdebug-prefix-map=" + filepath.Dir(testbin.Program(t, "timed.c")) + "=" + dir}})
	file := filepath.Join(dir, "timed.c")
	if err := os.WriteFile(file, src, 0o644); err != nil {
		t.Fatal(err)
	}
	used := func(age time.Duration, search string) (bool, []string) {
		when := time.Now().Add(-age)
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
		o := open(t, bin)
		o.SearchSources(search)
		tab := table(t, o)
		return tab.Regions[0].Found&BySource != 0, tab.Notes
	}
	if ok, notes := used(10000*time.Hour, ""); !ok || notes != nil {
		t.Errorf("an old source: used %t, notes %q", ok, notes)
	}
	if ok, notes := used(-time.Hour, ""); ok || len(notes) != 1 {
		t.Errorf("a source newer than the program: used %t, notes %q", ok, notes)
	}
	if ok, notes := used(-time.Hour, dir); !ok || len(notes) != 1 {
		t.Errorf("a newer source that was asked for: used %t, notes %q", ok, notes)
	}
}
