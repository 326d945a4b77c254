package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// oddBuild is a way to build the program of testdata/programs/builds.
type oddBuild struct {
	name     string
	compiler string
	flags    string   // for compiling and linking
	link     string   // for linking only
	then     []string // commands on $P, the program; $D is its folder
	places   places
	static   bool // nothing can count in it: only what its source says
}

// places says how much the build lets be known of places.
type places int

const (
	exactPlaces  places = iota
	foldedPlaces        // identical functions are one: the places of copies are shared
	noLines             // functions and addresses only
	noIdents            // nor does clang say which loops are combined with their region
)

var oddBuilds = []oddBuild{
	{name: "plain", compiler: "g++", flags: "-O2 -g"},
	{name: "O0", compiler: "g++", flags: "-O0 -g"},
	{name: "O3 LTO", compiler: "g++", flags: "-O3 -g -flto"},
	{name: "O3 LTO no-pie", compiler: "g++", flags: "-O3 -g -flto -no-pie -fno-pie"},
	{name: "static", compiler: "g++", flags: "-O2 -g", link: "-static", static: true},
	{name: "static-pie", compiler: "g++", flags: "-O2 -g -fPIE", link: "-static-pie", static: true},
	{name: "static-pie LTO", compiler: "g++", flags: "-O3 -g -flto -fPIE", link: "-static-pie", static: true},
	{name: "runtime in a dynamic program", compiler: "g++", flags: "-O2 -g", link: "-Wl,-Bstatic -lgomp -Wl,-Bdynamic", static: true},
	{name: "no PLT", compiler: "g++", flags: "-O2 -g -fno-plt"},
	{name: "no PLT, bound at once", compiler: "g++", flags: "-O3 -g -fno-plt", link: "-Wl,-z,now"},
	{name: "gold, identical code folded", compiler: "g++", flags: "-O2 -g -ffunction-sections", link: "-fuse-ld=gold -Wl,--icf=all", places: foldedPlaces},
	{name: "lld, identical code folded", compiler: "clang++-14", flags: "-O2 -g -ffunction-sections", link: "-fuse-ld=lld -Wl,--icf=all", places: foldedPlaces},
	{name: "compact relocations", compiler: "g++", flags: "-O2 -g", link: "-Wl,-z,pack-relative-relocs"},
	{name: "lld", compiler: "clang++-14", flags: "-O2 -g", link: "-fuse-ld=lld"},
	{name: "sections dropped", compiler: "g++", flags: "-O2 -g -ffunction-sections", link: "-Wl,--gc-sections"},
	{name: "DWARF 4", compiler: "g++", flags: "-O2 -gdwarf-4"},
	{name: "DWARF 4, type units", compiler: "g++", flags: "-O2 -gdwarf-4 -fdebug-types-section"},
	{name: "DWARF 3", compiler: "g++", flags: "-O2 -gdwarf-3"},
	{name: "64-bit DWARF", compiler: "g++", flags: "-O2 -g -gdwarf64"},
	{name: "little DWARF", compiler: "g++", flags: "-O2 -g1"},
	{name: "clang, DWARF 4", compiler: "clang++-19", flags: "-O2 -gdwarf-4"},
	{name: "clang, DWARF 5", compiler: "clang++-19", flags: "-O2 -gdwarf-5"},
	{name: "clang, lines only", compiler: "clang++-19", flags: "-O2 -gline-tables-only"},
	{name: "clang, O0", compiler: "clang++-19", flags: "-O0 -g"},
	{name: "clang, O3 no-pie", compiler: "clang++-19", flags: "-O3 -g -no-pie -fno-pie"},
	{name: "clang, LTO", compiler: "clang++-14", flags: "-O3 -g -flto", link: "-fuse-ld=lld"},
	{name: "clang, thin LTO", compiler: "clang++-14", flags: "-O3 -g -flto=thin", link: "-fuse-ld=lld"},
	{name: "compressed", compiler: "g++", flags: "-O2 -g -gz"},
	{name: "compressed the old way", compiler: "g++", flags: "-O2 -gdwarf-4 -gz=zlib-gnu"},
	{name: "compressed with zstd", compiler: "g++", flags: "-O2 -g", then: []string{"objcopy --compress-debug-sections=zstd $P"}},
	{name: "debug link", compiler: "g++", flags: "-O2 -g", then: []string{
		"objcopy --only-keep-debug $P $P.debug", "objcopy --strip-all --add-gnu-debuglink=$P.debug $P"}},
	{name: "clang, debug link", compiler: "clang++-19", flags: "-O2 -g", then: []string{
		"objcopy --only-keep-debug $P $P.debug", "objcopy --strip-all --add-gnu-debuglink=$P.debug $P"}},
	{name: "dwz", compiler: "g++", flags: "-O2 -g", then: []string{"dwz $P"}},
	{name: "dwz, common file", compiler: "g++", flags: "-O2 -g", then: []string{"cp $P $P.2", "dwz -m $D/common.debug -M $D/common.debug $P $P.2"}},
	{name: "split DWARF", compiler: "g++", flags: "-O2 -g -gsplit-dwarf"},
	{name: "split DWARF 4", compiler: "g++", flags: "-O2 -gdwarf-4 -gsplit-dwarf"},
	{name: "clang, split DWARF", compiler: "clang++-19", flags: "-O2 -g -gsplit-dwarf"},
	{name: "no lines", compiler: "g++", flags: "-O2", places: noLines},
	{name: "stripped", compiler: "g++", flags: "-O2 -s", places: noLines},
	{name: "clang, stripped", compiler: "clang++-19", flags: "-O3 -s", places: noIdents},
}

// build makes the program, and skips the test where a tool for it is missing.
func (b *oddBuild) build(t *testing.T) (bin string) {
	t.Helper()
	source := filepath.Join(testbin.Repo(t), "testdata", "programs", "builds")
	key := []string{b.compiler, testbin.Version(t, b.compiler), b.flags, b.link, strings.Join(b.then, ";")}
	var sources []string
	for _, part := range parts {
		sources = append(sources, filepath.Join(source, part+".cpp"))
	}
	dir := testbin.Made(t, key, sources, func(dir string) {
		// The program's debug information names these copies, whichever checkout comes next.
		must(t, "cp", append(slices.Clone(sources), filepath.Join(source, "helper.h"), dir)...)
		b.make(t, dir)
	})
	return filepath.Join(dir, "builds")
}

// parts are the program's sources, without .cpp.
var parts = []string{"main", "one", "two"}

// make makes the program in the folder of its sources.
func (b *oddBuild) make(t *testing.T, dir string) {
	t.Helper()
	bin := filepath.Join(dir, "builds")
	flags := testbin.Flags(t, b.compiler, strings.Fields(b.flags))
	var objects []string
	for _, part := range parts {
		o := filepath.Join(dir, part+".o")
		objects = append(objects, o)
		must(t, b.compiler, append(slices.Clone(flags), "-c", "-o", o, filepath.Join(dir, part+".cpp"))...)
	}
	args := append(append(slices.Clone(flags), "-o", bin), objects...)
	must(t, b.compiler, append(append(args, strings.Fields(b.link)...), "-pthread")...)
	for _, c := range b.then {
		f := strings.Fields(strings.NewReplacer("$P", bin, "$D", dir).Replace(c))
		must(t, f[0], f[1:]...)
	}
}

func must(t *testing.T, command string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(command); err != nil {
		t.Skipf("%s is not installed", command)
	}
	out, err := exec.Command(command, args...).CombinedOutput()
	for _, missing := range []string{"invalid linker name", "invalid 'ld'", "cannot find 'ld'", "collect2: fatal error: cannot find", "unrecognized option", "not supported"} {
		if err != nil && strings.Contains(string(out), missing) {
			t.Skipf("%s %s: %s", command, strings.Join(args, " "), out)
		}
	}
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, out)
	}
}

// marked is a directive whose executions the program's source states.
type marked struct {
	construct, file string
	line            int
	times           uint64 // per thread, for one repetition
}

func (m *marked) String() string { return fmt.Sprintf("%s (%d) %s", m.file, m.line, m.construct) }

// readMarks reads the comments with an @.
func readMarks(t *testing.T) (marks []marked) {
	t.Helper()
	runs := map[string]uint64{"one": 1, "two": 2, "tail": 3, "int": 1, "double": 2}
	mark := regexp.MustCompile(`#pragma omp .* // @ (\S+) (\S+)$`)
	for _, file := range []string{"helper.h", "one.cpp", "two.cpp"} {
		b, err := os.ReadFile(filepath.Join(testbin.Repo(t), "testdata", "programs", "builds", file))
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range strings.Split(string(b), "\n") {
			if f := mark.FindStringSubmatch(l); f != nil {
				m := marked{construct: strings.ReplaceAll(f[1], "_", " "), file: file, line: i + 1}
				for part := range strings.SplitSeq(f[2], "+") {
					m.times += runs[part]
				}
				marks = append(marks, m)
			}
		}
	}
	return marks
}

// However a program is built, its constructs are counted exactly, and lie where
// its source says, as far as the build leaves that in.
func TestOddBuilds(t *testing.T) {
	atOnce(t)
	const reps, threads = 5, 3
	marks := readMarks(t)
	if len(marks) != 8 {
		t.Fatalf("%d marks in the source: %v", len(marks), marks)
	}
	for _, b := range oddBuilds {
		t.Run(b.compiler+" "+b.name, func(t *testing.T) {
			t.Parallel()
			needTool(t)
			bin := b.build(t)
			args := []string{strconv.Itoa(reps)}
			s := clean(t, options{env: threadsEnv(threads)}, bin, args...)
			complete(t, s.main)
			balanced(t, s.main)
			if !b.static {
				truth := testbin.RunTruth(t, bin, args, append(threadsEnv(threads), "TRUTH_BODIES=1"))
				if testbin.TruthKind(t, bin) == "ompt" {
					compare(t, kmpcChecks(s.main, truth))
				} else {
					compare(t, gompChecks(s.main, truth, false))
				}
			}
			want, got := map[string]uint64{}, executions(s.main, b.places)
			for _, m := range marks {
				n := m.times * reps * threads
				if b.places == noIdents && m.construct == "PARALLEL LOOP" {
					want["LOOP"] += n
					m.construct = "PARALLEL"
				}
				want[at(b.places, m.construct, m.file, m.line)] += n
			}
			for place, n := range want {
				if got[place] != n {
					t.Errorf("%s: %d executions, want %d", place, got[place], n)
				}
			}
			for place, n := range got {
				if want[place] == 0 {
					t.Errorf("%s: %d executions of what is not in the source", place, n)
				}
			}
			elsewhere := slices.ContainsFunc(s.main.Unseen, func(u profile.Unseen) bool { return u.What == "names of inlined functions in builds" })
			if want := strings.Contains(b.flags, "split") || strings.Contains(b.name, "common"); elsewhere != want {
				t.Errorf("says that names are elsewhere: %t, want %t", elsewhere, want)
			}
			if t.Failed() {
				t.Logf("profile:\n%s", dump(s.main))
			}
		})
	}
}

// executions sums up what was measured by place.
func executions(p *profile.Profile, how places) map[string]uint64 {
	got := map[string]uint64{}
	for _, n := range p.Nodes {
		if n.Region < 0 {
			continue
		}
		r := &p.Regions[n.Region]
		place := at(how, r.Construct.String(), filepath.Base(r.Location.File), r.Location.Begin)
		for _, s := range n.Stats {
			got[place] += s.Exec.C
		}
	}
	return got
}

// at names a place as exactly as a build lets it be known.
func at(how places, construct, file string, line int) string {
	if how == exactPlaces {
		return (&marked{construct: construct, file: file, line: line}).String()
	}
	return construct
}
