package symbols

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"ompp-attach/symbols/names"
)

// Function is a function of the source that has code of its own.
type Function struct {
	VAddr uint64
	// Names are the names by which users know the function, the shortest first: without parameters,
	// with parameters, and the symbol. The names of aliases are included.
	Names []string
	// Clone is the symbol of a copy for some of the callers, or of the part that the compiler did
	// not inline. It is "" for the function itself.
	Clone string
	// Part: only calls that did not end in the inlined head of the function come here.
	Part bool
}

// partOf matches the name of the remaining part of a function, if GCC inlines the function's head.
var partOf = regexp.MustCompile(`\.part(\.|$)`)

// startup are functions of the C start files, in every program.
var startup = []string{"_start", "_init", "_fini", "_dl_relocate_static_pie", "deregister_tm_clones",
	"register_tm_clones", "__do_global_dtors_aux", "frame_dummy", "call_weak_fn"}

// Functions returns the functions of the source by address. Each address occurs once. It leaves out
// parts that are no functions of the source: cold parts, parallel regions and tasks (which are
// constructs), linker stubs, and resolvers of ifuncs. If a partly inlined function exists as a
// whole, too, it also leaves out the part that was not inlined.
func (o *Object) Functions() []Function {
	var fs []Function
	whole := map[string]bool{}
	t := &o.symbols().funcs
	for i := range t.sorted {
		s := &t.sorted[i]
		name := t.name(s)
		if s.ifunc || names.IsOutlined(name) || strings.Contains(name, ".cold") || strings.HasSuffix(name, ".resolver") ||
			slices.Contains(startup, name) || o.inPLT(s.addr) {
			continue
		}
		if _, text := o.codeRange(s.addr); !text {
			continue
		}
		all, clone := FunctionNames(name), ""
		if names.Source(name) != name {
			clone = name
		}
		part := partOf.MatchString(name)
		if !part {
			whole[all[len(all)-1]] = true
		}
		if n := len(fs); n > 0 && fs[n-1].VAddr == s.addr {
			f := &fs[n-1]
			for _, alias := range all {
				if !slices.Contains(f.Names, alias) {
					f.Names = append(f.Names, alias)
				}
			}
			if !part {
				f.Part = false
			}
			if clone == "" {
				f.Clone = ""
			}
			continue
		}
		fs = append(fs, Function{VAddr: s.addr, Names: all, Clone: clone, Part: part})
	}
	return slices.DeleteFunc(fs, func(f Function) bool {
		return f.Part && slices.ContainsFunc(f.Names, func(n string) bool { return whole[n] })
	})
}

// FunctionNames returns the names of a symbol's source function. The shortest comes first, and the
// function's own symbol last.
func FunctionNames(symbol string) []string {
	symbol = names.Source(symbol)
	all := []string{names.Demangled(symbol)}
	for _, n := range []string{demangle.Filter(symbol), symbol} {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}
