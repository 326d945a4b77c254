package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packer compresses chunks in a goroutine of its own, and keeps them or writes them to a file.
type packer struct {
	options *Options
	queue   chan work
	done    chan struct{}
	raw     sync.Pool // of *[]byte, for chunks

	mu    sync.Mutex // guards the fields below
	shelf shelf
	out   *output // of a plan that streams; nil: none
}

// work is an item of the packer's queue: chunks, names, or a request to copy the spans that are
// kept.
type work struct {
	chunks []chunk
	wait   bool   // until there is room, instead of dropping chunks
	now    uint64 // the latest end of any span, ns
	names  *names
	gap    *Gap // to be written by itself
	copy   chan<- shelf

	claims []stretch // times of the longest executions so far; nil: other work
}

func newPacker(o *Options) (*packer, error) {
	p := &packer{options: o, done: make(chan struct{}), queue: make(chan work, max(o.Plan.memory()/8/chunkSize, 4))}
	// The rest of the cap is for the queue, and for the lanes.
	p.shelf = shelf{most: o.Plan.Cap / 4 * 3, age: uint64(o.Plan.Last)}
	if o.Plan.Longest > 0 { // a part of the cap is for the executions themselves (longest)
		p.shelf.most, p.shelf.keeper = o.Plan.Cap/2, &keeper{whole: math.MaxUint64}
	}
	zip, err := newPacking()
	if err != nil {
		return nil, err
	}
	if o.Plan.Stream {
		// A part of the cap is left for the ring that follows.
		p.shelf.most = min(defaultCap/4*3, o.Plan.Cap/4)
		if p.out, err = newOutput(o, o.Plan.Cap-p.shelf.most); err != nil {
			return nil, err
		}
	}
	go p.run(zip)
	return p, nil
}

// put queues work. Chunks are dropped if the queue is full.
func (p *packer) put(w work) {
	if p.options.Wait || w.wait || w.names != nil || w.gap != nil {
		p.queue <- w
		return
	}
	if !p.offer(w) {
		p.mu.Lock()
		for i := range w.chunks {
			p.shelf.drop(w.chunks[i].lost(BySpeed))
		}
		p.mu.Unlock()
	}
}

// offer queues work if there is room for it.
func (p *packer) offer(w work) bool {
	select {
	case p.queue <- w:
		return true
	default:
		return false
	}
}

// pooled is the least size of a lane's memory that is used again (bytes).
const pooled = 4 << 10

// buffer returns memory for a lane that had some bytes.
func (p *packer) buffer(size int) []byte {
	if b, ok := p.raw.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:0]
	}
	return make([]byte, 0, size)
}

// run works until finish.
func (p *packer) run(zip *packing) {
	defer close(p.done)
	if p.options.Polite != nil {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		p.options.Polite()
	}
	for w := range p.queue {
		switch {
		case w.copy != nil:
			p.mu.Lock()
			w.copy <- p.shelf.clone()
			p.mu.Unlock()
		case w.claims != nil:
			p.mu.Lock()
			p.shelf.keeper.claims = w.claims
			p.mu.Unlock()
		case w.gap != nil:
			p.mu.Lock()
			p.out.try(func(to io.Writer) error { return putJSON(to, blockGaps, []Gap{*w.gap}) })
			p.mu.Unlock()
		case w.names != nil:
			p.mu.Lock()
			if p.out != nil {
				p.out.names(w.names)
			}
			p.mu.Unlock()
		default:
			for i := range w.chunks {
				c := &w.chunks[i]
				packed := zip.pack(c)
				if cap(c.data) >= pooled {
					p.raw.Put(&c.data)
				}
				p.mu.Lock()
				p.keep(packed, w.now)
				p.mu.Unlock()
			}
		}
	}
}

// keep writes a packed chunk to the file, or keeps it in memory.
func (p *packer) keep(c chunk, now uint64) {
	if p.out == nil || p.out.full(len(c.data)) {
		p.shelf.put(c, now)
		return
	}
	if !p.out.chunk(&c) {
		p.shelf.drop(c.lost(ByDisk))
	}
}

// promise asks for a copy of the shelf, with the work that is queued now. ok is false if the queue
// is full, because the caller must not wait.
func (p *packer) promise() (copy <-chan shelf, ok bool) {
	answer := make(chan shelf, 1)
	select {
	case <-p.done: // the queue is empty
		answer <- p.shelf.clone()
		return answer, true
	default:
	}
	return answer, p.offer(work{copy: answer})
}

// follow puts the chunks of this packer behind those of an older shelf. Call it after finish.
func (p *packer) follow(was shelf) {
	own := p.shelf
	was.most, was.age = own.most, own.age
	if own.keeper != nil {
		was.keeper.merge(own.keeper)
	}
	p.shelf = was
	last := uint64(0)
	for i := range own.chunks {
		last = max(last, own.chunks[i].last)
	}
	for _, c := range own.chunks {
		p.shelf.put(c, last)
	}
	for _, g := range own.gaps {
		p.shelf.drop(g)
	}
}

// finish waits until all work is done.
func (p *packer) finish() {
	close(p.queue)
	<-p.done
}

// complete writes the file's end, of a plan that streams.
func (p *packer) complete(d *Dictionary, gaps []Gap) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.shelf.chunks {
		if c := &p.shelf.chunks[i]; !p.out.chunk(c) {
			gaps = append(gaps, c.lost(ByDisk))
		}
	}
	return p.out.complete(d, gaps)
}

// writeHead writes the beginning of a file.
func writeHead(w io.Writer, o *Options, n *names) error {
	version := byte(versionPlain)
	if o.Counting != nil {
		version = versionCounts
	}
	if _, err := w.Write(append([]byte(mark), version)); err != nil {
		return err
	}
	if err := putJSON(w, blockHeader, header{o.PID, o.Tool, o.Counting}); err != nil {
		return err
	}
	return putJSON(w, blockNames, n)
}

// writeTail writes the end of a file.
func writeTail(w io.Writer, d *Dictionary, gaps []Gap) error {
	if len(gaps) > 0 {
		if err := putJSON(w, blockGaps, gaps); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	zip, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := json.NewEncoder(zip).Encode(d); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return putBlock(w, blockDictionary, b.Bytes())
}

func putJSON(w io.Writer, kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the timeline: %w", err)
	}
	return putBlock(w, kind, b)
}
