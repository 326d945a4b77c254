package voice

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Writers do not wait for a reader who does not read. When the reader reads, the text is there, in
// order.
func TestVoice(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := &Voice{To: w}
	v.Finish() // nothing was said
	var want strings.Builder
	for i := range 20000 { // more than a pipe holds
		fmt.Fprintf(v, "sentence %d\n", i)
		fmt.Fprintf(&want, "sentence %d\n", i)
	}
	got := make([]byte, 0, want.Len())
	for len(got) < want.Len() {
		n, err := r.Read(got[len(got):cap(got)])
		if err != nil {
			t.Fatal(err)
		}
		got = got[:len(got)+n]
	}
	v.Finish()
	if string(got) != want.String() {
		t.Error("what was read is not what was said")
	}
	fmt.Fprint(v, "more")
	v.Finish()
	if n, err := r.Read(got); string(got[:n]) != "more" || err != nil {
		t.Errorf("then read %q, %v", got[:n], err)
	}
}
