package node

import (
	"encoding/json"
	"net"
	"testing"
	"time"
)

// TestStoppedToolHoldsUpNoReader: the reader of the rings tells a rank's tool something while the
// tool reads nothing. Nothing is lost for the tool when it reads again.
func TestStoppedToolHoldsUpNoReader(t *testing.T) {
	here, there := net.Pipe() // which holds nothing: who writes waits for who reads
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
	case <-time.After(10 * time.Second):
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
