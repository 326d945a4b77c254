// Package cube writes the severities of a run as a file of Cube 4 (.cubex), which Cube's own
// browser, Extra-P, Hatchet and ParaProf open.
//
// The file is a tar of anchor.xml, which names metrics, regions, call paths and the machine, and of
// N.index and N.data for metric N. Values are exclusive in call paths (type EXCLUSIVE) and inclusive
// in metrics: the library subtracts a metric's children itself (CubeLib 4.8, Cube::get_sev_adv).
package cube

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"ompp-attach/severity"
)

// mostCells bounds the cells of a file, of 8 bytes each: Cube's rows have a cell for each location,
// also where nothing is.
const mostCells = 64 << 20

// Write writes the severities of a run. Of a run that would have too many cells, it writes those of
// processes, or of the whole.
func Write(w io.Writer, c *severity.Cube) error {
	for c.Level < severity.Whole && cells(c) > mostCells {
		c = c.Coarser(len(c.Values) - 1)
	}
	o := orderOf(c)
	out := tar.NewWriter(w)
	add := func(name string, content []byte) error {
		// The same run gives the same file: the time is that of nothing.
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := out.WriteHeader(h); err != nil {
			return fmt.Errorf("write cube: %w", err)
		}
		if _, err := out.Write(content); err != nil {
			return fmt.Errorf("write cube: %w", err)
		}
		return nil
	}
	// Cube reads the parts in any order, and writes its own anchor last.
	metrics := metricsOf(c)
	for i, property := range metrics {
		values := c.Inclusive(property)
		if err := add(fmt.Sprintf("%d.index", i), o.index(values)); err != nil {
			return err
		}
		if err := add(fmt.Sprintf("%d.data", i), o.data(property, values)); err != nil {
			return err
		}
	}
	text, err := o.anchor(metrics)
	if err != nil {
		return err
	}
	if err := add("anchor.xml", text); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write cube: %w", err)
	}
	return nil
}

// cells estimates the number of cells, from above: values of a property are in the rows of those
// above it, too.
func cells(c *severity.Cube) int {
	rows := map[[2]int]bool{}
	for _, v := range c.Values {
		for p := v.Property; p >= 0 && !rows[[2]int{p, v.Path}]; p = c.Above(p) {
			rows[[2]int{p, v.Path}] = true
		}
	}
	return len(rows) * len(c.Threads)
}

// metricsOf returns the properties with values, and those above them. Visits and Time are always
// there: readers look for them by name.
func metricsOf(c *severity.Cube) (out []int) {
	holds := make([]bool, len(c.Properties))
	holds[c.Property(severity.Time)], holds[c.Property(severity.Visits)] = true, true
	for _, v := range c.Values {
		for p := v.Property; p >= 0 && !holds[p]; p = c.Above(p) {
			holds[p] = true
		}
	}
	for i, h := range holds {
		if h {
			out = append(out, i)
		}
	}
	return out
}

// order is the order of paths and threads in the file. Cube numbers the rows of exclusive metrics
// depth first, and the values in a row as the machine's description lists threads.
type order struct {
	*severity.Cube
	kids    [][]int // of each path
	path    []int   // the number of each path
	thread  []int   // the number of each thread
	hosts   []string
	threads int
}

func orderOf(c *severity.Cube) *order {
	o := &order{Cube: c, kids: make([][]int, len(c.Paths)), path: make([]int, len(c.Paths)), thread: make([]int, len(c.Threads))}
	for i, p := range c.Paths {
		if i > 0 {
			o.kids[p.Parent] = append(o.kids[p.Parent], i)
		}
	}
	next := 0
	for stack := []int{0}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		o.path[i] = next
		next++
		for _, k := range slices.Backward(o.kids[i]) {
			stack = append(stack, k)
		}
	}
	for _, p := range c.Processes {
		if !slices.Contains(o.hosts, p.Host) {
			o.hosts = append(o.hosts, p.Host)
		}
	}
	for _, host := range o.hosts {
		for i, t := range c.Threads {
			if t.Process >= 0 && c.Processes[t.Process].Host == host {
				o.thread[i] = o.threads
				o.threads++
			}
		}
	}
	return o
}

// rows returns the numbers of the paths with values, ordered.
func (o *order) rows(values []severity.Value) (paths []int) {
	for _, v := range values {
		paths = append(paths, o.path[v.Path])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// index lists the rows of the data: a mark, the number 1 (which tells the byte order), the version,
// the kind of index (1: sparse), the number of rows, and their call paths.
func (o *order) index(values []severity.Value) []byte {
	var b bytes.Buffer
	paths := o.rows(values)
	b.WriteString("CUBEX.INDEX")
	b.Write(binary.LittleEndian.AppendUint32(nil, 1))
	b.Write(binary.LittleEndian.AppendUint16(nil, 0))
	b.WriteByte(1)
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(paths))))
	for _, p := range paths {
		b.Write(binary.LittleEndian.AppendUint32(nil, uint32(p)))
	}
	return b.Bytes()
}

// data holds, for each row of the index, a value for each thread.
func (o *order) data(property int, values []severity.Value) []byte {
	at := map[int]int{}
	for i, p := range o.rows(values) {
		at[p] = i
	}
	words := make([]uint64, len(at)*len(o.Threads))
	for _, v := range values {
		cell := &words[at[o.path[v.Path]]*len(o.Threads)+o.thread[v.Thread]]
		if o.Properties[property].Unit == severity.Seconds {
			*cell = math.Float64bits(float64(v.V) / 1e9)
		} else {
			*cell = uint64(v.V)
		}
	}
	out := []byte("CUBEX.DATA")
	for _, x := range words {
		out = binary.LittleEndian.AppendUint64(out, x)
	}
	return out
}
