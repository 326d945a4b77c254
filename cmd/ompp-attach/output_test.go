package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/collect"
)

func profileOf(pid int) *attribution.Profile {
	return &attribution.Profile{Meta: attribution.Meta{PID: pid}}
}

func TestStems(t *testing.T) {
	first := profileOf(10)
	res := &collect.Result{First: first, Profiles: []*attribution.Profile{profileOf(10), first, profileOf(11), profileOf(11), profileOf(12), profileOf(11)}}
	want := []string{"profile.pid10", "profile", "profile.pid11", "profile.pid11-2", "profile.pid12", "profile.pid11-3"}
	if got := (&output{}).stems(res); !slices.Equal(got, want) {
		t.Errorf("stems %q, want %q", got, want)
	}
}

// Only our own files make way for new ones.
func TestRemoveOld(t *testing.T) {
	ours := []string{"job.json", "job.ranks.csv", "profile.json.gz", "profile.ompp.txt", "profile.pb.gz", "profile.pid7.json.gz", "profile.pid7-2.ompp.txt", "profile.pid77-13.pb.gz"}
	others := []string{"job.jsonx", "myprofile.json.gz", "profile", "profile.json", "profile.json.gz.orig", "profile.pid7x.json.gz", "profile.txt", "profiles.csv"}
	dir := t.TempDir()
	for _, name := range slices.Concat(ours, others) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeOld(dir); err != nil {
		t.Fatal(err)
	}
	if got := namesIn(t, dir); !slices.Equal(got, others) {
		t.Errorf("left are %q, want %q", got, others)
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
	// What somebody has put in the file's place is replaced, not followed.
	if err := os.Symlink(elsewhere, name); err != nil {
		t.Fatal(err)
	}
	if err := saveFile(name, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
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
	if err := saveFile(name, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "new" {
		t.Errorf("after a failure the file holds %q, %v", b, err)
	}
	if got := namesIn(t, dir); len(got) != 1 {
		t.Errorf("files %q are left", got)
	}
}

// Root's directories stay root's, whoever ran sudo: -o /tmp names one.
func TestMakeDirectory(t *testing.T) {
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
		if created, err := makeDirectory(tc.path); created != tc.created || err != nil {
			t.Errorf("%s: created %t, %v; want %t", tc.path, created, err, tc.created)
		}
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
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := makeDirectory(filepath.Join(file, "below")); err == nil {
		t.Error("made a directory below a file")
	}
	if _, err := makeDirectory(file); err == nil {
		t.Error("took a file for a directory")
	}
	if err := giveToUser(link); os.Geteuid() == 0 && err == nil {
		t.Error("a link's directory was given away")
	}
}

func TestNotStarted(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
	}{{&collect.ExecError{Sentence: "no"}, exitCannotRun}, {&collect.InterruptedError{Signal: syscall.SIGINT}, 130}, {&collect.InterruptedError{Signal: syscall.SIGTERM}, 143}} {
		var ee *exitError
		if err := notStarted(tc.err); !errors.As(err, &ee) || ee.status != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%v: %v, want status %d", tc.err, err, tc.want)
		}
	}
}
