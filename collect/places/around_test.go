package places

import (
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// An address in the outlined function of a parallel region is placed in that region. This also
// holds if only the words of a directive say that the region is parallel.
func TestAround(t *testing.T) {
	const base = 0x10000000
	for name, opt := range map[string]testbin.Options{"gcc": {}, "clang": {Compiler: "clang-19"}} {
		t.Run(name, func(t *testing.T) {
			bin := testbin.Build(t, "newer.c", opt)
			o, err := symbols.OpenObject(bin)
			if err != nil {
				t.Fatal(err)
			}
			r := NewResolver(nil, Wanted{})
			parallel, combined, others := 0, 0, 0
			for _, reg := range tableOf(o).Regions {
				if reg.Outlined == 0 || reg.File == "" {
					continue
				}
				at := reg.Outlined + 1
				r.bound[base+at] = place{&symbols.Module{Path: bin}, o, at}
				got, ok := r.Around(base + at)
				switch {
				case reg.Construct == event.Parallel:
					parallel++
				case strings.Contains(reg.Words, "parallel"):
					combined++
				default:
					if others++; ok {
						t.Errorf("%q is taken for a parallel region", reg.Words)
					}
					continue
				}
				if l := got.Location; !ok || l.File != reg.File || l.Begin != reg.Begin || l.End != reg.End {
					t.Errorf("%q, lines %d to %d: %v, %+v", reg.Words, reg.Begin, reg.End, ok, l)
				}
			}
			if parallel < 4 || combined == 0 || others == 0 {
				t.Errorf("%d parallel regions, %d combined ones, %d others", parallel, combined, others)
			}
		})
	}
}

// Code of another file may have been mapped earlier where a region's code is now. The place that
// was bound first stays.
func TestAroundLeavesWhatIsBound(t *testing.T) {
	const base = 0x10000000
	open := func(program string) (string, *symbols.Object) {
		bin := testbin.Build(t, program, testbin.Options{})
		o, err := symbols.OpenObject(bin)
		if err != nil {
			t.Fatal(err)
		}
		return bin, o
	}
	bin, o := open("newer.c")
	earlier, p := open("longrun.c")
	for _, reg := range tableOf(o).Regions {
		if reg.Construct != event.Parallel || reg.Outlined == 0 {
			continue
		}
		fn := base + reg.Outlined
		was := place{&symbols.Module{Path: earlier}, p, 16}
		r := NewResolver(nil, Wanted{})
		r.bound[fn], r.bound[fn+1] = was, place{&symbols.Module{Path: bin}, o, reg.Outlined + 1}
		if got, ok := r.Around(fn + 1); !ok || got.Location.Object != bin || got.Location.Begin != reg.Begin {
			t.Errorf("line %d: %v, %+v", reg.Begin, ok, got.Location)
		}
		if r.bound[fn] != was || len(r.bound) != 2 {
			t.Errorf("line %d: %d addresses are bound, that of the function to %+v", reg.Begin, len(r.bound), r.bound[fn])
		}
	}
}
