package bpf

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"math/bits"
	"path/filepath"
	"strings"
	"testing"
)

// flagEnums returns the constants of each generated enum of flags, by the enum's name.
func flagEnums(t *testing.T, file string) map[string]map[string]uint64 {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]uint64{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		enum, ok := v.Type.(*ast.Ident)
		if !ok || !strings.HasSuffix(enum.Name, "Flag") {
			return true
		}
		n64, ok := constant.Uint64Val(constant.MakeFromLiteral(v.Values[0].(*ast.BasicLit).Value, token.INT, 0))
		if !ok {
			t.Fatalf("%s: %s", file, v.Names[0].Name)
		}
		if out[enum.Name] == nil {
			out[enum.Name] = map[string]uint64{}
		}
		out[enum.Name][v.Names[0].Name] = n64
		return true
	})
	return out
}

// collisions tells which flags are no single bit, are the same bit, or do not fit into a field.
func collisions(flags map[string]uint64, fit int) (out []string) {
	of := map[uint64]string{}
	for name, v := range flags {
		switch other := of[v]; {
		case bits.OnesCount64(v) != 1:
			out = append(out, fmt.Sprintf("%s is %#x, no single bit", name, v))
		case bits.Len64(v) > fit:
			out = append(out, fmt.Sprintf("%s is %#x, which does not fit into %d bits", name, v, fit))
		case other != "":
			out = append(out, fmt.Sprintf("%s and %s are both %#x", name, other, v))
		}
		of[v] = name
	}
	return out
}

// TestFlagsApart: records of several kinds share the field of flags, so no two flags may be one
// bit, whichever kinds they are for. The generated constants are those of shared.h.
func TestFlagsApart(t *testing.T) {
	fields := map[string]int{"mpiMpiFlag": 8 * len16(mpiMpiRecord{}.Flags), "probeRecordFlag": 8 * len16(probeRecord{}.Flags)}
	files, err := filepath.Glob("*_bpfel.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		for enum, flags := range flagEnums(t, file) {
			fit := 32
			if n, ok := fields[enum]; ok {
				fit = n
			}
			seen[enum] = true
			for _, c := range collisions(flags, fit) {
				t.Errorf("%s, %s: %s", file, enum, c)
			}
		}
	}
	for enum := range fields {
		if !seen[enum] {
			t.Errorf("%s was not found", enum)
		}
	}
	if got := collisions(map[string]uint64{"a": 1, "b": 1, "c": 3, "d": 1 << 16}, 16); len(got) != 3 {
		t.Errorf("%v", got)
	}
}

// len16 returns the bytes of a field of 16 bits: the compiler refuses others.
func len16(uint16) int { return 2 }
