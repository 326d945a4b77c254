package node

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"ompp-attach/collect/launch"
	"ompp-attach/voice"
)

// patience is how long the collector waits for a tool to connect, and for a tool's request.
const patience = 30 * time.Second

// Server serves the tools of a job's ranks.
type Server struct {
	mu      sync.Mutex
	clients []*Client // the first of them gets the messages for all
}

// Client is the tool of one rank.
type Client struct {
	mu    sync.Mutex
	to    *json.Encoder
	from  *json.Decoder
	voice *voice.Voice // writes what to encodes
}

// newClient returns the client at the other end of a connection. Sending to a client never waits:
// the reader of the rings sends sentences, too, and a stopped tool reads nothing.
func newClient(conn io.ReadWriter) *Client {
	v := &voice.Voice{To: conn}
	return &Client{to: json.NewEncoder(v), from: json.NewDecoder(conn), voice: v}
}

func (c *Client) send(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.to.Encode(&r) // a tool that is gone needs no answer
}

// Say tells a sentence to the user of the tool.
func (c *Client) Say(sentence string) { c.send(reply{Say: sentence}) }

// Follow lets the program start, and waits for its end. dir is the directory of the program's
// results. ok is false if the tool has ended; the program may still run then.
func (c *Client) Follow(dir string) (e launch.Ending, ok bool) {
	c.send(reply{Followed: true, Dir: dir})
	return e, c.from.Decode(&e) == nil
}

// Gone returns a channel that is closed when the tool has ended. Call it once, after Follow: from
// then on the tool sends nothing more.
func (c *Client) Gone() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		var nothing launch.Ending
		_ = c.from.Decode(&nothing)
	}()
	return gone
}

// Serve serves clients until the last one is gone. If no client comes, it returns after patience.
func (k *Server) Serve(l net.Listener, socket string, measure func(*Request, *Client) *Over) {
	conns := make(chan net.Conn)
	go func() {
		defer close(conns)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- c
		}
	}()
	gone := make(chan struct{})
	impatient := time.After(patience)
	for active := 0; ; {
		select {
		case c := <-conns:
			active++
			go func() {
				defer func() { gone <- struct{}{} }()
				defer c.Close()
				k.client(c, measure)
			}()
			continue
		case <-gone:
			active--
		case <-impatient:
		}
		if active > 0 {
			continue
		}
		// A tool that comes now finds no collector, and starts another one.
		os.Remove(socket)
		l.Close()
		for c := range conns {
			c.Close()
		}
		return
	}
}

// Say tells the user a sentence through the first client, if there is one.
func (k *Server) Say(s string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.clients) > 0 {
		k.clients[0].Say(s)
	}
}

// client serves one rank's tool.
func (k *Server) client(conn net.Conn, measure func(*Request, *Client) *Over) {
	c := newClient(conn)
	defer c.voice.Finish()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	var req Request
	if c.from.Decode(&req) != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	k.mu.Lock()
	k.clients = append(k.clients, c)
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.clients = slices.DeleteFunc(k.clients, func(o *Client) bool { return o == c })
	}()
	c.send(reply{Over: measure(&req, c)})
}
