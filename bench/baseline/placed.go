package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"ompp-attach/bpf"
)

// skip says when a session's entry answers that the return is not wanted.
type skip int

const (
	skipNever     skip = iota
	skipIfZero         // the zero flag is set
	skipIfNotSign      // the sign flag is clear
	skipKinds
)

// placing says where a probe is hit: at the entry, the return, or both.
type placing int

const (
	placedEntry placing = iota
	placedReturn
	placedSession
)

// Placed is a probe that some process has placed, as the kernel describes it.
type Placed struct {
	Path   string // the probed file
	Offset uint64 // of the probed instruction in the file
	how    placing
	skip   skip
}

// AtReturn reports whether the probe is hit at returns.
func (p *Placed) AtReturn() bool { return p.how != placedEntry }

// AtEntry reports whether the probe is hit at the instruction itself.
func (p *Placed) AtEntry() bool { return p.how != placedReturn }

// PlacedBy asks the kernel which probes a process (an ompp-attach) has placed by uprobe_multi
// links, and which programs the probes run. It is an error if there are none.
func PlacedBy(pid int) (points []Placed, programs []ebpf.ProgramID, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		return nil, nil, err
	}
	seen := map[ebpf.ProgramID]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || !ofUprobes(text) {
			continue // closed meanwhile, or something else
		}
		for line := range strings.Lines(string(text)) {
			id, ok := strings.CutPrefix(line, "link_id:")
			if !ok {
				continue
			}
			n, err := strconv.ParseUint(strings.TrimSpace(id), 10, 32)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f, err)
			}
			more, prog, err := placedByLink(link.ID(n), pid)
			if errors.Is(err, os.ErrNotExist) {
				continue // closed meanwhile
			}
			if err != nil {
				return nil, nil, fmt.Errorf("read link %d: %w", n, err)
			}
			points = append(points, more...)
			if len(more) > 0 && !seen[prog] {
				seen[prog] = true
				programs = append(programs, prog)
			}
		}
	}
	if len(points) == 0 {
		return nil, nil, fmt.Errorf("process %d has placed no probe by uprobe_multi", pid)
	}
	return points, programs, nil
}

// ofUprobes tells whether the kernel's text on a file descriptor is that of a uprobe_multi link.
// Since Linux 6.17 the text names links of returns uretprobe_multi.
func ofUprobes(text []byte) bool {
	return bytes.Contains(text, []byte("uprobe_multi")) || bytes.Contains(text, []byte("uretprobe_multi"))
}

// placedByLink is PlacedBy for one link. It leaves out the probe that a tool places in itself to
// try whether it can.
func placedByLink(id link.ID, tool int) ([]Placed, ebpf.ProgramID, error) {
	l, err := link.NewFromID(id)
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	info, err := l.Info()
	if err != nil {
		return nil, 0, err
	}
	multi := info.UprobeMulti()
	if multi == nil {
		return nil, 0, errors.New("the kernel does not say what it probes")
	}
	if pid, ok := multi.Pid(); ok && int(pid) == tool {
		return nil, 0, nil
	}
	offsets, ok := multi.Offsets()
	if !ok {
		return nil, 0, errors.New("the kernel does not say where it probes")
	}
	prog, err := ebpf.NewProgramFromID(info.Program)
	if err != nil {
		return nil, 0, err
	}
	defer prog.Close()
	about, err := prog.Info()
	if err != nil {
		return nil, 0, err
	}
	how := placedEntry
	const flagReturn = 1 // BPF_F_UPROBE_MULTI_RETURN
	switch {
	case multi.Flags&flagReturn != 0:
		how = placedReturn
	case strings.Contains(about.Name, "session"):
		how = placedSession
	}
	rows, err := rowsOf(about)
	if err != nil {
		return nil, 0, err
	}
	if rows != nil {
		defer rows.Close()
	}
	var out []Placed
	for _, o := range offsets {
		p := Placed{Path: multi.File, Offset: o.Offset, how: how}
		var row bpf.Row
		if rows != nil && how == placedSession {
			if err := rows.Lookup(uint32(o.Cookie), &row); err != nil {
				return nil, 0, fmt.Errorf("read probe row %d: %w", uint32(o.Cookie), err)
			}
			switch {
			case row.Flags&bpf.RowFreeIfZF != 0:
				p.skip = skipIfZero
			case row.Flags&bpf.RowFreeIfNotSF != 0:
				p.skip = skipIfNotSign
			}
		}
		out = append(out, p)
	}
	return out, info.Program, nil
}

// rowsOf opens the map of rows that a program uses. It returns nil for other programs than those of
// OpenMP probes.
func rowsOf(about *ebpf.ProgramInfo) (*ebpf.Map, error) {
	ids, _ := about.MapIDs()
	for _, id := range ids {
		m, err := ebpf.NewMapFromID(id)
		if err != nil {
			return nil, err
		}
		if info, err := m.Info(); err == nil && info.Name == "rows" {
			return m, nil
		}
		m.Close()
	}
	return nil, nil
}

// Runs returns how often the programs have run since the kernel began to count (ebpf.EnableStats).
func Runs(programs []ebpf.ProgramID) (uint64, error) {
	sum := uint64(0)
	for _, id := range programs {
		prog, err := ebpf.NewProgramFromID(id)
		if err != nil {
			return 0, fmt.Errorf("open program %d: %w", id, err)
		}
		stats, err := prog.Stats()
		prog.Close()
		if err != nil {
			return 0, fmt.Errorf("read how often program %d has run: %w", id, err)
		}
		sum += stats.RunCount
	}
	return sum, nil
}
