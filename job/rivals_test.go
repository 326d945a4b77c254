package job

import (
	"reflect"
	"testing"

	"ompp-attach/profile"
)

// TestRivals: the profiles of ranks tell which processes had their cores. These times are added up
// by process. A rank is recognised by its process number on the same machine, whatever its threads
// are called.
func TestRivals(t *testing.T) {
	ps := []*profile.Profile{waiting(0, [2]uint64{100, 410}, [2]uint64{500, 650}), waiting(1, [2]uint64{400, 412}, [2]uint64{600, 640})}
	ps[0].Rivals = []profile.Rival{{PID: 77, Name: "cc1", T: 40}, {PID: 11, Name: "worker", T: 5}, {PID: 11, Name: "p", T: 2}, {PID: 5, Name: "none"}}
	ps[1].Rivals = []profile.Rival{{PID: 11, Name: "p", Own: true, T: 4}, {PID: 77, Name: "cc1", T: 60}, {PID: 77, Name: "make", T: 9}}
	want := []Rival{{Name: "cc1", PID: 77, Host: "h", Rank: -1, T: 100, Robbed: 2, Most: 1, MostT: 60},
		{Name: "p", PID: 11, Host: "h", Rank: 1, T: 11, Robbed: 2, Most: 0, MostT: 7},
		{Name: "make", PID: 77, Host: "h", Rank: -1, T: 9, Robbed: 1, Most: 1, MostT: 9}}
	j, err := Read(sourcesOf(t, ps...), Options{})
	if err != nil || !reflect.DeepEqual(j.Rivals, want) {
		t.Errorf("%+v, %v", j.Rivals, err)
	}
	ps[1].Meta.Host = "other" // the same process number is another process there
	if j, err = Read(sourcesOf(t, ps...), Options{}); err != nil || len(j.Rivals) != 6 || j.Rivals[0].T != 60 {
		t.Errorf("%+v, %v", j.Rivals, err)
	}
}
