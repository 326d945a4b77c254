package reporttest

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"ompp-attach/profile"
)

// CallWithoutFigures is an edited record: it has the region of an MPI call, but no figures of MPI.
const CallWithoutFigures = `{"version":1,"threads":[{"num":0}],"regions":[{"construct":"MPI","name":"MPI_Send"},{"construct":"PARALLEL"}],
	"nodes":[{"parent":-1,"region":-1},{"parent":0,"region":1,"stats":[{"thread":0,"exec":{"t":9000000,"c":1},"mpi":{"t":4000000,"calls":1}}]},
		{"parent":1,"region":0,"stats":[{"thread":0,"exec":{"t":5000000,"c":2}}]}]}`

// RecordText returns a recorded profile's JSON: what profile.Encode writes, unpacked.
func RecordText(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := profile.Encode(&buf, p); err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Record is the reverse of RecordText: it packs any text as profile.Encode packs a profile's.
func Record(t testing.TB, text []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := zw.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
