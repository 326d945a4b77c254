package selection

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
)

func TestSelectionWords(t *testing.T) {
	s, err := New([]string{"lock", "file:a.c", "function:f"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !s.hidden[event.Lock] || !s.hidden[event.NestLock] || s.hidden[event.Critical] || !s.UserRegions() {
		t.Errorf("%v", s.hidden)
	}
	if d := cmp.Diff([]string{"lock", "file:a.c (probed, not shown)", "function:f (probed, not shown)"}, s.text); d != "" {
		t.Error(d)
	}
	if s, err = New(nil, []string{"parallel", "critical"}); err != nil {
		t.Fatal(err)
	}
	if s.hidden[event.Critical] || s.hidden[event.Parallel] || !s.hidden[event.Loop] || s.UserRegions() {
		t.Errorf("%v", s.hidden)
	}
	if !s.Leaves(event.Loop) || s.Leaves(event.Critical) || (*Selection)(nil).Leaves(event.Loop) {
		t.Error("what is left out")
	}
	for word, want := range map[string]bool{"sections": true, "single": true, "lock": false} {
		if s, err := New([]string{word}, nil); err != nil || s.LeavesWorksharing() != want {
			t.Errorf("--disable %s leaves worksharing out: %t, %v", word, !want, err)
		}
	}
	if s, err = New([]string{"lock"}, []string{"sync"}); err != nil || !s.hidden[event.Lock] || s.hidden[event.Critical] {
		t.Errorf("%v, %v", s, err)
	}
	if _, err = New([]string{"sync"}, []string{"critical"}); err == nil || !strings.Contains(err.Error(), "--only critical: --disable") {
		t.Errorf("got %v", err)
	}
	if _, err = New([]string{"citical"}, nil); err == nil || !strings.Contains(err.Error(), "critical") {
		t.Errorf("got %v", err)
	}
	for _, wrong := range []string{"MPI_Sendd", "mpi_"} {
		if _, err = New([]string{wrong}, nil); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: got %v", wrong, err)
		}
	}
	if !inFile("/a/b/x.c", "x.c") || !inFile("/a/b/x.c", "b/x.c") || inFile("/a/b/xx.c", "x.c") || inFile("", "") {
		t.Error("files")
	}
}
