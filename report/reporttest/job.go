package reporttest

import (
	"bytes"
	"io"
	"testing"

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// ReadJob records the ranks, and merges what it reads. A rank with Meta.Ended "torn" has a torn
// file.
func ReadJob(t *testing.T, ranks []*profile.Profile) *job.Job {
	t.Helper()
	j, err := job.Read(Sources(t, ranks), job.Options{Paths: true, Severity: &severity.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Sources records the ranks.
func Sources(t *testing.T, ranks []*profile.Profile) (from []job.Source) {
	t.Helper()
	for r, p := range ranks {
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		if p.Meta.Ended == "torn" {
			b.Truncate(b.Len() / 2)
		}
		from = append(from, job.Source{Name: job.FileName(r, 0), Rank: r, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }})
	}
	return from
}
