package node

import (
	"encoding/json"
	"net"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// TestStoppedToolHoldsUpNoReader: the reader of the rings sends sentences to a rank's tool, which
// reads nothing meanwhile. The reader does not wait. The tool gets all sentences when it reads
// again.
func TestStoppedToolHoldsUpNoReader(t *testing.T) {
	here, there := net.Pipe() // a pipe without a buffer: writers wait for the reader
	defer here.Close()
	defer there.Close()
	k := &Server{clients: []*Client{newClient(here)}}
	said := make(chan struct{})
	go func() {
		k.Say("one")
		k.Say("two")
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(testbin.Patience):
		t.Fatal("who says something waits for a tool that does not read")
	}
	from := json.NewDecoder(there)
	for _, want := range []string{"one", "two"} {
		var r reply
		if err := from.Decode(&r); err != nil || r.Say != want {
			t.Fatalf("the tool reads %q (%v), want %q", r.Say, err, want)
		}
	}
	k.clients[0].voice.Finish()
}
