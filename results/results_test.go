package results

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/files"
	"ompp-attach/profile"
	"ompp-attach/report"
)

func rankProfile(job string, rank, size int) *profile.Profile {
	p := profileOf(100 + rank)
	p.Meta.MPI = &profile.MPIJob{Job: job, Rank: rank, Size: size}
	return p
}

func TestRankStems(t *testing.T) {
	child := profileOf(9)
	res := &collect.Result{Profiles: []*profile.Profile{rankProfile("a", 0, 2), rankProfile("a", 1, 2), rankProfile("b", 0, 4), rankProfile("b", 3, 4), rankProfile("", -1, 0), child}}
	if got, want := (&Directory{}).stems(res, ""), []string{"profile.rank0", "profile.rank1", "profile.rank0-2", "profile.rank3-2", "profile.pid99", "profile.pid9"}; !slices.Equal(got, want) {
		t.Errorf("stems %q, want %q", got, want)
	}
	// Ranks of a job that another job has started (MPI_Comm_spawn) end first.
	spawned := rankProfile("b", 0, 1)
	spawned.Meta.Start = time.Unix(20, 0)
	first, second := rankProfile("a", 0, 2), rankProfile("a", 1, 2)
	first.Meta.Start, second.Meta.Start = time.Unix(10, 0), time.Unix(30, 0)
	res = &collect.Result{Profiles: []*profile.Profile{spawned, first, second}}
	if got, want := (&Directory{}).stems(res, ""), []string{"profile.rank0-2", "profile.rank0", "profile.rank1"}; !slices.Equal(got, want) {
		t.Errorf("stems %q, want %q", got, want)
	}
	// For a rank's own tool: the directory may hold profiles of programs that the rank ran before.
	o := &Directory{Dir: t.TempDir(), rank: &launch.Rank{Rank: 1}}
	if err := os.WriteFile(filepath.Join(o.Dir, "profile.rank1.json.gz"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	res = &collect.Result{Profiles: []*profile.Profile{rankProfile("a", 1, 2), child}}
	if got, want := o.stems(res, o.Dir), []string{"profile.rank1-2", "profile.rank1.pid9"}; !slices.Equal(got, want) {
		t.Errorf("stems %q, want %q", got, want)
	}
}

func TestRanksLines(t *testing.T) {
	o := &Directory{Dir: "out"}
	got := o.ranksLines([]*profile.Profile{rankProfile("a", 3, 9), rankProfile("a", 0, 9), rankProfile("a", 1, 9), rankProfile("b", 0, 1), rankProfile("", -1, 0), profileOf(3)})
	if len(got) != 1 || !strings.HasPrefix(got[0], "ranks 0-1,3 of 9 measured") || !strings.Contains(got[0], "mpirun -n 9 ompp-attach run -o out") {
		t.Errorf("%q", got)
	}
}

// The console says that a rank's times cannot be told. A rank without a launcher has a summary for
// that.
func TestUntold(t *testing.T) {
	hidden := func(size int) *profile.Profile {
		p := rankProfile("a", 1, size)
		p.Threads = []profile.Thread{{TIDs: []int{1}}}
		p.Nodes = []profile.Node{{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{Cost: &profile.Cost{Exec: 9e8}}}}}
		p.Meta.Duration, p.Meta.UserTime = 1e9, 1e9
		p.Meta.Overhead = &profile.Overhead{Probes: []profile.ProbeHits{{Hits: 9e8, Before: 1}}}
		return p
	}
	o := &Directory{Dir: "out"}
	if text := o.ofRank([]*profile.Profile{rankProfile("a", 0, 2), hidden(2)}, report.Options{}, report.Untold); !strings.HasPrefix(text, "how the time divides cannot be told: ") || !strings.Contains(text, " on rank 1.") {
		t.Errorf("%q", text)
	}
	for _, p := range []*profile.Profile{rankProfile("a", 0, 2), hidden(1)} {
		if text := o.ofRank([]*profile.Profile{p}, report.Options{}, report.Untold); text != "" {
			t.Errorf("of %+v: %q", p.Meta.MPI, text)
		}
	}
}

func profileOf(pid int) *profile.Profile {
	return &profile.Profile{Meta: profile.Meta{Target: profile.Target{PID: pid}}}
}

func TestStems(t *testing.T) {
	first := profileOf(10)
	res := &collect.Result{First: first, Profiles: []*profile.Profile{profileOf(10), first, profileOf(11), profileOf(11), profileOf(12), profileOf(11)}}
	want := []string{"profile.pid10", "profile", "profile.pid11", "profile.pid11-2", "profile.pid12", "profile.pid11-3"}
	if got := (&Directory{}).stems(res, ""); !slices.Equal(got, want) {
		t.Errorf("stems %q, want %q", got, want)
	}
}

// Only our own files are removed for new ones.
func TestRemoveOld(t *testing.T) {
	ours := []string{"job.json", "job.ranks.csv", "job.html", "profile.json.gz", "profile.html", "profile.ompp.txt", "profile.pb.gz", "profile.pid7.json.gz", "profile.pid7-2.ompp.txt", "profile.pid77-13.pb.gz"}
	others := []string{"job.jsonx", "myprofile.json.gz", "profile", "profile.json", "profile.json.gz.orig", "profile.pid7x.json.gz", "profile.txt", "profiles.csv"}
	dir := t.TempDir()
	for _, name := range slices.Concat(ours, others) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * staleAfter)
	for name, when := range map[string]time.Time{files.Prefix + "cut": long, claimPrefix + "over": long, files.Prefix + "new": time.Now()} {
		name := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	others = append([]string{files.Prefix + "new"}, others...)
	if err := removeOld(dir); err != nil {
		t.Fatal(err)
	}
	if got := namesIn(t, dir); !slices.Equal(got, others) {
		t.Errorf("left are %q, want %q", got, others)
	}
}

// TestPagesOfRanks: ranks of a large job have pages only if the user asks for them.
func TestPagesOfRanks(t *testing.T) {
	p := profileOf(1)
	for size, want := range map[int]bool{0: true, mostRankPages: true, mostRankPages + 1: false} {
		p.Meta.MPI = &profile.MPIJob{Size: size}
		if got := slices.Contains(formatsOf(p, DefaultFormats), "html"); got != want {
			t.Errorf("of %d ranks: page %v", size, got)
		}
	}
	if !slices.Contains(formatsOf(p, []string{"html"}), "html") {
		t.Error("a page that the user asks for is not written")
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func TestSaveFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "profile.pb.gz")
	elsewhere := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(elsewhere, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A link that somebody has put in the file's place is replaced, not followed.
	if err := os.Symlink(elsewhere, name); err != nil {
		t.Fatal(err)
	}
	if err := Save(name, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(elsewhere); err != nil || string(b) != "old" {
		t.Errorf("the linked file holds %q, %v", b, err)
	}
	st, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode()&^0o644 != 0 || st.Mode()&0o600 != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	broken := errors.New("broken")
	if err := Save(name, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "new" {
		t.Errorf("after a failure the file holds %q, %v", b, err)
	}
	if got := namesIn(t, dir); len(got) != 1 {
		t.Errorf("files %q are left", got)
	}
}

// Root's directories still belong to root, whoever ran sudo: -o may name /tmp.
func TestOpenDirectory(t *testing.T) {
	dir := t.TempDir()
	const user = 12345
	if os.Geteuid() == 0 {
		t.Setenv("SUDO_UID", strconv.Itoa(user))
		t.Setenv("SUDO_GID", strconv.Itoa(user))
	}
	owner := func(path string) int {
		st, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return int(st.Sys().(*syscall.Stat_t).Uid)
	}
	made := filepath.Join(dir, "above", "results")
	for _, tc := range []struct {
		path    string
		created bool
	}{{dir, false}, {made + "/", true}, {made, false}} {
		root, created, err := OpenDirectory(tc.path, false)
		if created != tc.created || err != nil {
			t.Fatalf("%s: created %t, %v; want %t", tc.path, created, err, tc.created)
		}
		root.Close()
	}
	if got := owner(dir); got != os.Geteuid() {
		t.Errorf("a directory that was there belongs to %d", got)
	}
	if os.Geteuid() == 0 {
		for _, path := range []string{made, filepath.Dir(made)} {
			if got := owner(path); got != user {
				t.Errorf("%s belongs to %d, want the user who ran sudo", path, got)
			}
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenDirectory(filepath.Join(file, "below"), false); err == nil {
		t.Error("made a directory below a file")
	}
	if _, _, err := OpenDirectory(file, false); err == nil {
		t.Error("took a file for a directory")
	}
}

// Links of another user in the place of root's results are not followed. Another user's directory
// is used only if the user has named it.
func TestPlantedDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	const other = 12345
	dir := t.TempDir()
	t.Chdir(dir)
	precious := filepath.Join(dir, "precious")
	link, taken := "ompp-solver-10", "ompp-solver-11"
	if err := errors.Join(os.Mkdir(precious, 0o755), os.Symlink(precious, link), os.Lchown(link, other, other),
		os.Mkdir(taken, 0o777), os.Chown(taken, other, other)); err != nil {
		t.Fatal(err)
	}
	for pid, name := range map[int]string{10: link, 11: taken} {
		if _, err := Open("", "solver", pid, false); !errors.Is(err, files.ErrUnsafe) || !strings.Contains(err.Error(), "-o") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(link, "solver", 10, false); !errors.Is(err, files.ErrUnsafe) {
		t.Errorf("another user's link, named: %v", err)
	}
	if err := Save(filepath.Join(link, "file"), func(io.Writer) error { return nil }); !errors.Is(err, files.ErrUnsafe) {
		t.Errorf("a file below another user's link: %v", err)
	}
	if _, err := Open(taken, "solver", 11, false); err != nil {
		t.Errorf("another user's directory, named: %v", err)
	}
	c := &Claims{}
	if err := errors.Join(os.Symlink(precious, "ompp-job-j"), os.Lchown("ompp-job-j", other, other)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open("", false, &launch.Rank{Job: "j"}, dir, 0); !errors.Is(err, files.ErrUnsafe) {
		t.Errorf("a job's directory: %v", err)
	}
	// Our own directories, and links that the user of sudo has made, are used.
	t.Setenv("SUDO_UID", strconv.Itoa(other))
	t.Setenv("SUDO_GID", strconv.Itoa(other))
	if o, err := Open(link, "solver", 10, false); err != nil {
		t.Errorf("a link of the user who ran sudo: %v", err)
	} else {
		o.mark.remove()
	}
	if got := namesIn(t, precious); len(got) > 0 {
		t.Errorf("%q was written where the links lead", got)
	}
}

// If the name of the results directory is taken, another name is used.
func TestTakenName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Symlink("nowhere", "ompp-solver-10"); err != nil {
		t.Fatal(err)
	}
	p := profileOf(10)
	p.Nodes = []profile.Node{{Region: -1, Parent: -1}}
	o := &Directory{program: "solver"}
	if err := o.Write(&collect.Result{First: p, Profiles: []*profile.Profile{p}}, &Wanted{Quiet: true}); err != nil || o.Dir != "ompp-solver-10-2" {
		t.Errorf("results in %q, %v", o.Dir, err)
	}
}

// A directory that cannot be made is named once, with what to do.
func TestDirectoryInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := &Directory{Dir: file, named: true}
	if err := o.make(); err == nil || err.Error() != "cannot make the results directory "+file+": not a directory; give another directory with -o" {
		t.Errorf("%v", err)
	}
}

// The name of a directory is no pattern: what is in run[1] is found, and not replaced.
func TestDirectoryLikeAPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run[1]*?")
	o, err := Open(dir, "solver", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(marks(dir)) != 1 {
		t.Error("the mark of a directory in use is not found")
	}
	o.mark.remove()
	rank := filepath.Join(dir, RecordStem+".rank0"+RecordSuffix)
	if err := os.WriteFile(rank, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "solver", 1, false); err == nil || !strings.Contains(err.Error(), "already holds profiles") {
		t.Errorf("a rank's profile would be replaced: %v", err)
	}
	if err := clear(dir, "", false); err == nil {
		t.Error("a job's profiles would be replaced")
	}
}

// A program that was not started leaves neither a file for its output nor the directory that was
// made for it. Output that was written stays.
func TestDropOutput(t *testing.T) {
	for _, written := range []string{"", "x"} {
		dir := filepath.Join(t.TempDir(), "out")
		o, err := Open(dir, "solver", 0, false)
		if err != nil {
			t.Fatal(err)
		}
		f, name, err := o.OutputFile()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString(written)
		f.Close()
		o.DropOutput()
		_ = o.Abandon(nil)
		if exists(name) != (written != "") || exists(dir) != (written != "") {
			t.Errorf("of an output %q: the file is there: %t, the directory: %t", written, exists(name), exists(dir))
		}
	}
}
