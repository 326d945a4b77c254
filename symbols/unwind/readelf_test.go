package unwind

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/symbols"
)

// libraries are compared with readelf if they are installed. They are MPI, the runtimes, and code
// that compilers made for arm64.
var libraries = []string{
	"/usr/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6",
	"/usr/lib/*-linux-gnu/libgomp.so.1",
	"/usr/lib/*-linux-gnu/libmpi.so.40", "/usr/lib/*-linux-gnu/libmpi_*.so.40",
	"/usr/lib/*-linux-gnu/libmpichfort.so.12", "/usr/lib/*-linux-gnu/libmpichcxx.so.12",
	"/usr/lib/*-linux-gnu/libgfortran.so.5", "/usr/lib/*-linux-gnu/libstdc++.so.6",
	"/usr/lib/llvm-*/lib/libomp.so.5",
	"/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/libgomp.so.1", "/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
}

// registerNames are the names that readelf gives to registers, by DWARF number.
var registerNames = map[string][]string{
	"amd64": strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra"),
	"arm64": strings.Fields("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp"),
}

// text returns a rule in readelf's notation.
func (r rule) text(names []string) string {
	switch r.kind {
	case same:
		return "s"
	case offset:
		return fmt.Sprintf("c%+d", r.value)
	case valOffset:
		return fmt.Sprintf("v%+d", r.value)
	case register:
		return names[r.reg]
	case expression:
		return "exp"
	case valExpression:
		return "vexp"
	case regOffset:
		return fmt.Sprintf("%s%+d", names[r.reg], r.value)
	}
	return "u"
}

// Every row of every FDE equals readelf's.
func TestRowsAsReadelf(t *testing.T) {
	if _, err := exec.LookPath("readelf"); err != nil {
		t.Skip("no readelf")
	}
	for _, pattern := range libraries {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			t.Run(path, func(t *testing.T) { t.Parallel(); likeReadelf(t, path) })
		}
	}
}

var (
	rowLine  = regexp.MustCompile(`^[0-9a-f]{16} `)
	twoNames = regexp.MustCompile(`r\d+ \((\w+)\)`)
)

var fdeLine = regexp.MustCompile(`^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)`)

func likeReadelf(t *testing.T, path string) {
	o, err := symbols.OpenObject(path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	data, vaddr := o.EHFrame()
	table, names := New(o.Arch(), data, vaddr, nil), registerNames[o.Arch()]

	cmd := exec.Command("readelf", "--debug-dump=frames-interp", path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fdes, rows, wrong := 0, 0, 0
	var f *fde
	var columns []string
	last := "" // the last line of an address gives the row
	check := func() {
		if last == "" || f == nil {
			return
		}
		cells := strings.Fields(twoNames.ReplaceAllString(last, "$1"))
		pc, err := strconv.ParseUint(cells[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		last = ""
		rows++
		w, ok := f.row(pc)
		want, got := cells[:2:2], []string{cells[0], w.cfa.text(names)}
		if w.cfa.kind == valExpression {
			got[1] = "exp"
		}
		for i, c := range columns {
			if c[0] != 'v' { // floating point
				want, got = append(want, cells[2+i]), append(got, w.column(c, names))
			}
		}
		if !ok || !slices.Equal(got, want) {
			if wrong++; wrong < 10 {
				t.Errorf("FDE at %#x: %t\ngot  %v\nwant %v\nof %v", f.start, ok, got, want, columns)
			}
		}
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		cells := strings.Fields(line)
		switch m := fdeLine.FindStringSubmatch(line); {
		case m != nil:
			check()
			fdes++
			start, err1 := strconv.ParseUint(m[1], 16, 64)
			end, err2 := strconv.ParseUint(m[2], 16, 64)
			if f = table.find(start); err1 != nil || err2 != nil || f == nil || f.start != start || f.end != end {
				if wrong++; wrong < 10 {
					t.Errorf("%s: got %+v", line, f)
				}
				f = nil
			}
		case strings.Contains(line, " CIE "):
			check()
			f = nil
		case len(cells) >= 2 && cells[0] == "LOC":
			columns = cells[2:]
		case !rowLine.MatchString(line):
			check()
		case f != nil:
			if at, _, _ := strings.Cut(last, " "); at != cells[0] {
				check()
			}
			last = line
		}
	}
	check()
	cmd.Wait() // readelf also fails if it only warns: its output is compared
	if fdes != len(table.eh) || wrong > 0 {
		t.Errorf("%d of %d rows differ; %d FDEs, readelf has %d", wrong, rows, len(table.eh), fdes)
	}
	t.Logf("%d FDEs, %d rows", fdes, rows)
}

// column returns a register's rule by readelf's name of the register.
func (w *row) column(name string, names []string) string {
	for i, n := range names {
		if n == name || name == "ra" && len(names) > 30 && i == 30 {
			return w.regs[i].text(names)
		}
	}
	return "?" + name
}
