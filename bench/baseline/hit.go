package baseline

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// Hit runs during and returns those of the placed probes that the process reaches meanwhile.
func Hit(placed []Placed, pid int, during func() error) ([]Placed, error) {
	counts, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: uint32(len(placed))})
	if err != nil {
		return nil, fmt.Errorf("make counters of hits: %w", err)
	}
	defer counts.Close()
	prog, err := countingProgram(counts)
	if err != nil {
		return nil, fmt.Errorf("load the program that counts hits: %w", err)
	}
	defer prog.Close()
	var links Links
	defer func() { links.Close() }()
	entry := func(ex *link.Executable, o *link.UprobeMultiOptions) (link.Link, error) {
		return ex.UprobeMulti(nil, prog, o)
	}
	if err := links.count(placed, pid, (*Placed).AtEntry, entry); err != nil {
		return nil, err
	}
	atReturn := func(ex *link.Executable, o *link.UprobeMultiOptions) (link.Link, error) {
		return ex.UretprobeMulti(nil, prog, o)
	}
	if err := links.count(placed, pid, func(p *Placed) bool { return p.how == placedReturn }, atReturn); err != nil {
		return nil, err
	}
	if err := during(); err != nil {
		return nil, err
	}
	var out []Placed
	for i, p := range placed {
		var n uint64
		if err := counts.Lookup(uint32(i), &n); err != nil {
			return nil, fmt.Errorf("read counters of hits: %w", err)
		}
		if n > 0 {
			out = append(out, p)
		}
	}
	return out, nil
}

// countingProgram loads a program that adds 1 to the counter whose index is the probe's cookie.
func countingProgram(counts *ebpf.Map) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceUprobeMulti, License: "GPL",
		Instructions: asm.Instructions{
			asm.FnGetAttachCookie.Call(),
			asm.StoreMem(asm.RFP, -4, asm.R0, asm.Word),
			asm.LoadMapPtr(asm.R1, counts.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -4),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "out"),
			asm.Mov.Imm(asm.R1, 1),
			asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
			asm.Return(),
		},
	})
}

// count attaches to those of the placed probes that take chooses, file by file. The cookie of a
// probe is its index in placed.
func (ls *Links) count(placed []Placed, pid int, take func(*Placed) bool, attach func(*link.Executable, *link.UprobeMultiOptions) (link.Link, error)) error {
	byPath := map[string]*link.UprobeMultiOptions{}
	for i := range placed {
		p := &placed[i]
		if !take(p) {
			continue
		}
		if byPath[p.Path] == nil {
			byPath[p.Path] = &link.UprobeMultiOptions{PID: uint32(pid)}
		}
		o := byPath[p.Path]
		o.Addresses, o.Cookies = append(o.Addresses, p.Offset), append(o.Cookies, uint64(i))
	}
	for path, o := range byPath {
		ex, err := link.OpenExecutable(path)
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		l, err := attach(ex, o)
		if err != nil {
			return fmt.Errorf("count hits in %s: %w", path, err)
		}
		*ls = append(*ls, l)
	}
	return nil
}
