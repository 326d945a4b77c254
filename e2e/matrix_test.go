package e2e

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

var updateMatrix = flag.Bool("update", false, "rewrite docs/constructs.md")

// matrixCalls is how often the programs call each function.
const matrixCalls = 3

// marker is a construct of matrix.h or matrix.f90.
type marker struct {
	row, construct string
	counts         []uint64 // executions per call: one of these
	line           int
	function       string
}

// matrixColumns are the table's: one program per compiler and language, each at
// three levels of optimisation.
var matrixColumns = []struct{ title, compiler, src, markers string }{
	{"GCC 12, C", "gcc", "matrix.c", "matrix.h"},
	{"GCC 12, C++", "g++", "matrix.cpp", "matrix.h"},
	{"GCC 12, Fortran", "gfortran", "matrix.f90", "matrix.f90"},
	{"Clang 14, C", "clang-14", "matrix.c", "matrix.h"},
	{"Clang 14, C++", "clang++-14", "matrix.cpp", "matrix.h"},
	{"Clang 19, C", "clang-19", "matrix.c", "matrix.h"},
	{"Clang 19, C++", "clang++-19", "matrix.cpp", "matrix.h"},
}

var matrixLevels = []string{"-O0", "-O2", "-O3"}

// What a cell of the table says.
const (
	cellExact     = "exact"     // a region of its own, every execution counted
	cellNear      = "near"      // the same, but its place in the source is marked as approximate
	cellDerived   = "derived"   // counted by a rule that the report states
	cellOther     = "as "       // counted, and shown as another construct
	cellBarrier   = "barrier"   // only the barrier at its end is seen, and shown as such
	cellInvisible = "invisible" // not seen, and the report says so
	// Counted, but at another construct of its kind in the same function.
	cellMisplaced = "misplaced"
	cellNone      = "-" // the compiler or language does not know it
)

// TestConstructMatrix runs every construct, compiled in every way, and compares
// how it is seen with docs/constructs.md. A construct that is neither counted
// exactly nor named as not seen fails the test whatever the table says.
func TestConstructMatrix(t *testing.T) {
	atOnce(t)
	var rows []string // in the order of the programs
	cells := map[string][]string{}
	markersOf := map[string][]marker{}
	for _, col := range matrixColumns {
		markers := readMarkers(t, col.markers)
		markersOf[col.markers] = markers
		for at, m := range markers {
			if !slices.Contains(rows, m.row) {
				before := len(rows)
				if at > 0 {
					before = slices.Index(rows, markers[at-1].row) + 1
				}
				rows = slices.Insert(rows, before, m.row)
				cells[m.row] = make([]string, len(matrixColumns))
			}
		}
	}
	t.Run("compilers", func(t *testing.T) { // ends when all of them have
		for i, col := range matrixColumns {
			t.Run(col.title, func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(col.title, "GCC 12") {
					needGCC12(t, col.compiler)
				}
				seen := map[string][]string{}
				for _, level := range matrixLevels {
					for row, cell := range seenAs(t, col.compiler, col.src, level, markersOf[col.markers]) {
						seen[row] = append(seen[row], cell)
					}
				}
				for row, c := range seen {
					if len(slices.Compact(slices.Clone(c))) == 1 {
						c = c[:1]
					}
					cells[row][i] = strings.Join(c, " / ")
				}
			})
		}
	})
	name := filepath.Join(testbin.Repo(t), "docs", "constructs.md")
	have, err := os.ReadFile(name)
	if err != nil && !*updateMatrix {
		t.Fatal(err)
	}
	table := writeMatrix(rows, cells, have)
	if *updateMatrix {
		if err := os.WriteFile(name, table, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	a, b := strings.Split(string(have), "\n"), strings.Split(string(table), "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Errorf("docs/constructs.md, line %d, says\n%s\nbut it is\n%s\n(go test ./e2e -run TestConstructMatrix -update rewrites it)", i+1, lineOf(a, i), lineOf(b, i))
		}
	}
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// needGCC12: what GCC makes calls for differs between its releases.
func needGCC12(t *testing.T, compiler string) {
	t.Helper()
	if v := testbin.MajorVersion(compiler); v != "12" {
		t.Skipf("%s is version %s", compiler, v)
	}
}

var markedFunction = regexp.MustCompile(`^(?:F|\s*subroutine) (m_\w+)`)

// readMarkers reads the markers of a source file.
func readMarkers(t *testing.T, src string) (found []marker) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testbin.Repo(t), "testdata", "programs", src))
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(bytes.NewReader(b))
	function := ""
	for line := 1; in.Scan(); line++ {
		text := in.Text()
		if f := markedFunction.FindStringSubmatch(text); f != nil {
			function = f[1]
		}
		at := max(strings.LastIndex(text, " // = "), strings.LastIndex(text, " ! = "))
		if at < 0 {
			continue
		}
		_, marks, _ := strings.Cut(text[at:], "= ")
		for _, mark := range strings.Split(marks, "; ") {
			row, rest, ok := strings.Cut(mark, ": ")
			sp := strings.LastIndex(rest, " ")
			if !ok || sp < 0 {
				t.Fatalf("%s:%d: no marker: %q", src, line, mark)
			}
			m := marker{row: row, construct: rest[:sp], line: line, function: function}
			for _, n := range strings.Split(rest[sp+1:], "|") {
				v, err := strconv.ParseUint(n, 10, 64)
				if err != nil {
					t.Fatalf("%s:%d: %v", src, line, err)
				}
				m.counts = append(m.counts, v*matrixCalls)
			}
			found = append(found, m)
		}
	}
	return found
}

// seenAs says how each construct of a program is seen.
func seenAs(t *testing.T, compiler, src, level string, markers []marker) map[string]string {
	t.Helper()
	bin := testbin.Build(t, src, testbin.Options{Compiler: compiler, Flags: []string{level, "-g"}})
	s := clean(t, options{env: newerEnv(2)}, bin)
	if m := s.main.Meta; m.LostHits != 0 || m.Unmatched != 0 || m.Partial != 0 {
		t.Errorf("%s: lost %d, unmatched %d, partial %d, want none", level, m.LostHits, m.Unmatched, m.Partial)
	}
	out := map[string]string{}
	for _, m := range markers {
		if strings.HasPrefix(m.row, "scope") && strings.HasPrefix(compiler, "clang") {
			out[m.row] = cellNone
			continue
		}
		cell, err := m.cell(s.main, markers)
		if err != nil {
			t.Errorf("%s: line %d: %v", level, m.line, err)
		}
		out[m.row] = cell
	}
	return out
}

// misplaced tells whether a function's constructs of one kind are all counted,
// though not each at its own place.
func (m *marker) misplaced(p *profile.Profile, all []marker) bool {
	low, high := uint64(0), uint64(0)
	for _, o := range all {
		if o.function == m.function && o.construct == m.construct {
			low, high = low+slices.Min(o.counts), high+slices.Max(o.counts)
		}
	}
	n := count(p, execC, func(r *profile.Region) bool {
		name, _, _ := strings.Cut(r.Location.Function, "(")
		return name == m.function && r.Construct.String() == m.construct
	}).total()
	return n > 0 && low <= n && n <= high
}

// standIns are constructs under which a profile may show another one.
var standIns = map[string][]string{
	"LOOP": {"BARRIER"}, "SECTIONS": {"BARRIER"}, "SCOPE": {"BARRIER"}, "WORKSHARE": {"BARRIER", "LOOP"},
	"PARALLEL LOOP": {"PARALLEL"}, "PARALLEL SECTIONS": {"PARALLEL"}, "PARALLEL WORKSHARE": {"PARALLEL", "PARALLEL LOOP"},
	"TARGET DATA": {"TARGET ENTER DATA"}, "REDUCTION": {"ATOMIC"}, "MASKED": {"MASTER"}, "UTASK": {"TASK"}, "UTASKEXEC": {"TASKEXEC"},
}

// cell finds a construct in a profile. The error tells of a wrong count, or of
// silence.
func (m *marker) cell(p *profile.Profile, all []marker) (string, error) {
	here := func(construct string) func(*profile.Region) bool {
		return func(r *profile.Region) bool {
			return r.Construct.String() == construct && r.Location.Begin == m.line &&
				strings.HasPrefix(filepath.Base(r.Location.File), "matrix.")
		}
	}
	elsewhere := m.misplaced(p, all)
	if n := count(p, execC, here(m.construct)).total(); n > 0 {
		if !slices.Contains(m.counts, n) && elsewhere {
			return cellMisplaced, nil
		}
		if !slices.Contains(m.counts, n) {
			return "", fmt.Errorf("%s: %d executions of %s, want %d", m.row, n, m.construct, m.counts)
		}
		for i := range p.Regions {
			if r := &p.Regions[i]; here(m.construct)(r) {
				return quality(r), nil
			}
		}
	}
	for _, other := range standIns[m.construct] {
		n := count(p, execC, here(other)).total()
		switch {
		case n == 0:
		case other == "BARRIER":
			return cellBarrier, nil
		case !slices.Contains(m.counts, n):
			return "", fmt.Errorf("%s: %d executions of %s, want %d", m.row, n, other, m.counts)
		default:
			return cellOther + other, nil
		}
	}
	if elsewhere {
		return cellMisplaced, nil
	}
	if m.named(p) {
		return cellInvisible, nil
	}
	return "", fmt.Errorf("%s: no %s, and no word about that in the report", m.row, m.construct)
}

func quality(r *profile.Region) string {
	for _, n := range r.Notes {
		if strings.Contains(n, "derived") {
			return cellDerived
		}
	}
	if r.Location.Mark == profile.Approx {
		return cellNear
	}
	return cellExact
}

// staticLoops are the rows whose loops have a static schedule.
var staticLoops = []string{"for", "for nowait", "for simd", "loop"}

// named tells whether the report says that such a construct is not seen.
func (m *marker) named(p *profile.Profile) bool {
	if strings.Contains(m.construct, "TASK") && p.Meta.HasTasks {
		return true
	}
	if m.construct == "LOOP" && !slices.Contains(staticLoops, m.row) {
		return false // the report speaks of static ones
	}
	word := strings.ToLower(m.construct)
	if strings.HasPrefix(word, "target ") { // the data directives are named with it
		word = "target"
	}
	for _, u := range p.Unseen {
		if strings.Contains(strings.ToLower(u.What), word) {
			return true
		}
	}
	return false
}

const matrixHead = `# How each construct is seen

Rows are constructs, columns are compilers. Where the levels -O0 / -O2 / -O3 differ, a cell says so
in that order. Programs: testdata/programs/matrix.h and matrix.f90, at line-exact places, with debug
information. ` + "`go test ./e2e -run TestConstructMatrix`" + ` compiles and measures them anew, and
compares. With ` + "`-update`" + ` it rewrites this table.

| a cell says | which means |
| --- | --- |
| exact | a region of its own, every execution counted |
| near | the same, but its place is marked ~: GCC gives the call the line of other code |
| derived | counted by a rule that the report states |
| as X | every execution counted, and shown as X |
| barrier | only the barrier at its end is seen, and shown as BARRIER |
| invisible | makes no call that can be probed; the report's notes say so |
| misplaced | counted, but at another construct of its kind, whose line GCC gave to the call |
| - | the compiler or language does not know it |

Executions of a loop without iterations: clang's code branches around all calls but the barrier at
the loop's end, so they are not counted as LOOP. The barrier is shown as BARRIER at the loop's
lines, with a note. Of a nowait loop nothing is seen. Behind a nowait construct, such a barrier is
told from the construct's own by the lines of both, or by the program's code. Only if a program
without lines (no -g) has a loop there that is empty by its text, the barrier counts for the
construct. GCC's are counted, but where its code tests for that before (-O2, -O3), it may pass by
the probes of a static loop, which makes no call (x86-64).

`

// writeMatrix renders the table. Cells that were not measured here, for want of
// a compiler, are taken from the old one.
func writeMatrix(rows []string, cells map[string][]string, old []byte) []byte {
	before := map[string][]string{}
	for line := range strings.Lines(string(old)) {
		f := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		if len(f) == len(matrixColumns)+1 {
			before[f[0]] = f[1:]
		}
	}
	var w bytes.Buffer
	w.WriteString(matrixHead + "| construct |")
	for _, c := range matrixColumns {
		fmt.Fprintf(&w, " %s |", c.title)
	}
	w.WriteString("\n|" + strings.Repeat(" --- |", len(matrixColumns)+1) + "\n")
	measured := make([]bool, len(matrixColumns))
	for _, row := range rows {
		for i, c := range cells[row] {
			measured[i] = measured[i] || c != ""
		}
	}
	for _, row := range rows {
		fmt.Fprintf(&w, "| %s |", row)
		for i, c := range cells[row] {
			switch {
			case c == "" && measured[i]:
				c = cellNone
			case c == "" && i < len(before[row]):
				c = before[row][i]
			}
			fmt.Fprintf(&w, " %s |", c)
		}
		w.WriteString("\n")
	}
	return w.Bytes()
}
