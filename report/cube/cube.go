// Package cube writes the severities of a run as a file of Cube 4 (.cubex), which Cube's own
// browser, Extra-P, Hatchet and ParaProf open.
//
// The file is a tar of anchor.xml, which names metrics, regions, call paths and the machine, and of
// N.index and N.data for metric N. Values are exclusive in call paths (type EXCLUSIVE) and
// inclusive in metrics: the library subtracts a metric's children
// itself (CubeLib 4.8, Cube::get_sev_adv).
package cube

import (
	"archive/tar"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"ompp-attach/severity"
)

// mostCells bounds the size of a file, by its cells of 8 bytes each. Cube's rows have a cell for
// each location, also where nothing is, and readers of Cube files hold rows in memory.
const mostCells = 64 << 20

// Write writes the severities of a run. If a run would have too many cells, Write writes the
// severities of processes, or of the whole. Cells are written row by row. Memory holds only cells
// with a value.
func Write(w io.Writer, c *severity.Cube) error {
	for c.Level < severity.Whole && cells(c) > mostCells {
		c = c.Coarser(len(c.Values) - 1)
	}
	if err := write(tar.NewWriter(w), orderOf(c)); err != nil {
		return fmt.Errorf("write cube: %w", err)
	}
	return nil
}

func write(out *tar.Writer, o *order) error {
	// Cube reads the parts in any order, and writes its own anchor last.
	metrics := metricsOf(o.Cube)
	for i, property := range metrics {
		values := o.Inclusive(property)
		slices.SortFunc(values, func(a, b severity.Value) int { return cmp.Compare(o.path[a.Path], o.path[b.Path]) })
		rows := o.rows(values)
		index := indexOf(rows)
		if err := head(out, fmt.Sprintf("%d.index", i), int64(len(index))); err != nil {
			return err
		}
		if _, err := out.Write(index); err != nil {
			return err
		}
		if err := head(out, fmt.Sprintf("%d.data", i), int64(len(dataMark)+8*len(rows)*len(o.Threads))); err != nil {
			return err
		}
		if err := o.data(out, property, values); err != nil {
			return err
		}
	}
	text, err := o.anchor(metrics)
	if err != nil {
		return err
	}
	if err := head(out, "anchor.xml", int64(len(text))); err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	return out.Close()
}

// head begins a file of the archive. Its time is always the same, so that the same run gives the
// same archive.
func head(out *tar.Writer, name string, size int64) error {
	return out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR})
}

// cells estimates the number of cells, from above. Values of a property are also in the rows of the
// properties above it.
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

// rows returns the numbers of the paths of values that are ordered by them.
func (o *order) rows(values []severity.Value) (paths []int) {
	for _, v := range values {
		if n := o.path[v.Path]; len(paths) == 0 || paths[len(paths)-1] != n {
			paths = append(paths, n)
		}
	}
	return paths
}

// indexOf lists the rows of the data. It begins with a mark, the number 1 (which tells the byte
// order), the version, and the kind of index (1: sparse). The number of rows and their call paths
// follow.
func indexOf(paths []int) []byte {
	b := []byte("CUBEX.INDEX")
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = append(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(paths)))
	for _, p := range paths {
		b = binary.LittleEndian.AppendUint32(b, uint32(p))
	}
	return b
}

// dataMark begins the data of a metric.
const dataMark = "CUBEX.DATA"

// data writes, for each row of the index, a value for each thread. The values are ordered by row.
func (o *order) data(w io.Writer, property int, values []severity.Value) error {
	if _, err := io.WriteString(w, dataMark); err != nil {
		return err
	}
	row := make([]byte, 8*len(o.Threads))
	for i := 0; i < len(values); {
		clear(row)
		path := values[i].Path
		for ; i < len(values) && values[i].Path == path; i++ {
			binary.LittleEndian.PutUint64(row[8*o.thread[values[i].Thread]:], o.cell(property, values[i].V))
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// cell is the word of a value: of a time a floating-point number of seconds, otherwise an integer.
func (o *order) cell(property int, v int64) uint64 {
	if o.Properties[property].Unit == severity.Seconds {
		return math.Float64bits(float64(v) / 1e9)
	}
	return uint64(v)
}
