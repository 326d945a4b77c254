package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/collect/launch"
)

// A measurement that is under way has its directory to itself, also before its first snapshot, and
// for whoever would overwrite older results.
func TestDirectoryInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o, err := Open(dir, "solver", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	o.Begins(os.Getpid())
	for _, overwrite := range []bool{false, true} {
		if _, err := Open(dir, "solver", 2, overwrite); err == nil || !strings.Contains(err.Error(), "belongs to a measurement that is under way") {
			t.Errorf("overwrite %t: %v", overwrite, err)
		}
		if err := claim(dir, "job", overwrite, nil); err == nil || !strings.Contains(err.Error(), "belongs to a measurement that is under way") {
			t.Errorf("a job, overwrite %t: %v", overwrite, err)
		}
	}
	if err := claim(dir, launch.NamelessPrefix+"7", false, nil); err != nil {
		t.Errorf("a job without a name, which may be the same one: %v", err)
	}
	_ = os.Remove(filepath.Join(dir, claimName(launch.NamelessPrefix+"7")))
	if got := namesIn(t, dir); !slices.Equal(got, []string{o.mark.name()}) {
		t.Errorf("after refusals there are %q", got)
	}
	_ = o.mark.file.Close() // as when the tool is killed
	again, err := Open(dir, "solver", 2, false)
	if err != nil {
		t.Fatalf("after the measurement: %v", err)
	}
	if err := inUse(dir, again.mark); err != nil {
		t.Errorf("its own mark: %v", err)
	}
	_ = again.Abandon(nil)
}

// Of two jobs that claim a directory at the same time, at least one is refused: each has its mark
// there before it looks for others. Collectors of one job do not refuse each other.
func TestClaimedAtOnce(t *testing.T) {
	for _, other := range []string{"first", "second"} {
		dir := t.TempDir()
		there := newMark(dir, other) // on another node: the name of the mark differs
		name := filepath.Join(dir, there.name())
		if err := os.Rename(name, name+"1"); err != nil {
			t.Fatal(err)
		}
		opened := make(chan error)
		go func() {
			_, err := new(Claims).Open(dir, false, &launch.Rank{Job: "first", Size: 1}, "", os.Getpid())
			opened <- err
		}()
		announced := false
		for waiting := true; waiting; {
			select {
			case err := <-opened:
				waiting = false
				if refused := err != nil; refused != (other != "first") {
					t.Errorf("claimed by %s: %v", other, err)
				}
			case <-time.After(time.Millisecond):
				_, err := os.Stat(name)
				announced = announced || err == nil
			}
		}
		_, err := os.Stat(name)
		if there := err == nil; !announced && other != "first" || there != (other == "first") {
			t.Errorf("claimed by %s: had a mark while it looked: %t, has one: %t", other, announced, there)
		}
	}
}

// TestDirectoryAboutToBeFree: a tool whose programs have ended removes its mark soon. Until then
// the mark counts, also while its text is being written.
func TestDirectoryAboutToBeFree(t *testing.T) {
	dir := t.TempDir()
	other := newMark(dir, "")
	if err := other.file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if list := marks(dir); len(list) != 1 || !list[0].held {
		t.Errorf("marks %+v, want the one that is being written", list)
	}
	other.write()
	released := make(chan struct{})
	go func() {
		defer close(released)
		time.Sleep(100 * time.Millisecond)
		other.remove()
	}()
	if err := inUse(dir, nil); err != nil {
		t.Error(err)
	}
	<-released
}
