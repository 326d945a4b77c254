package reporttest

import (
	"bytes"
	"io"
	"testing"

	"ompp-attach/job"
	"ompp-attach/profile"
)

// ReadJob records the ranks, and merges what it reads. A rank with Meta.Ended "torn" has a torn file.
func ReadJob(t *testing.T, ranks []*profile.Profile) *job.Job {
	t.Helper()
	var from []job.Source
	for r, p := range ranks {
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		if p.Meta.Ended == "torn" {
			b.Truncate(b.Len() / 2)
		}
		from = append(from, job.Source{Name: job.FileName(r, 0), Rank: r, Open: func() (io.ReadCloser, error) { return io.NopCloser(&b), nil }})
	}
	j, err := job.Read(from, job.Options{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	return j
}
