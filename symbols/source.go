package symbols

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ompp-attach/files"
	"ompp-attach/symbols/directives"
)

// maxSource bounds the size of a source file worth reading, in bytes.
const maxSource = 16 << 20

// sourceCache keeps the directives of the files that were asked for.
type sourceCache struct {
	mu    sync.Mutex
	dir   string
	files map[string]source
}

type source struct {
	parsed []directives.Directive // nil for a file that cannot be used
	Source
}

// Source says which file was read for a file name of the line table.
type Source struct {
	Name  string    `json:"name"`            // as in the line table
	Path  string    `json:"path,omitempty"`  // of the file that was found; "": none was
	Newer bool      `json:"newer,omitempty"` // newer than the object
	Used  bool      `json:"used,omitempty"`  // its directives are used
	Time  time.Time `json:"time,omitzero"`   // of its last change
	Size  int64     `json:"size,omitempty"`
}

// SearchSources names a directory. Sources that are not at the compiler's place are searched below
// it. A file there is used even if it is newer than the object, since copies are newer.
func (o *Object) SearchSources(dir string) {
	o.sources.mu.Lock()
	defer o.sources.mu.Unlock()
	o.sources.dir, o.sources.files = dir, nil
}

// Sources returns all files for which Directives was called, sorted by name.
func (o *Object) Sources() (all []Source) {
	o.sources.mu.Lock()
	defer o.sources.mu.Unlock()
	for _, s := range o.sources.files {
		all = append(all, s.Source)
	}
	slices.SortFunc(all, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Directives returns the OpenMP directives of a source file, in the order of the text. A relative
// name is looked up in the directories in which the object's units were compiled. ok is false if
// the file is missing, or newer than the object: its lines may then differ from those that were
// compiled. Callers share the slice and must not change it.
func (o *Object) Directives(file string) (ds []directives.Directive, ok bool) {
	if file == "" { // an unknown place is no missing source
		return nil, false
	}
	o.sources.mu.Lock()
	defer o.sources.mu.Unlock()
	src, ok := o.sources.files[file]
	if !ok {
		src = o.readSource(file)
		if o.sources.files == nil {
			o.sources.files = map[string]source{}
		}
		o.sources.files[file] = src
	}
	return slices.Clip(src.parsed), src.Used
}

// SourceExtent returns the lines of the innermost OpenMP construct at or around a line. The
// construct's directive starts with the given words ("critical", "parallel", "for", "parallel for";
// "" for any). begin is the line of the directive. end is the line of the closing brace or the end
// directive, or the last line of the statement. ok is false if there is no such construct, or if
// Directives refuses the file.
func (o *Object) SourceExtent(file string, line int, directive string) (begin, end int, ok bool) {
	ds, _ := o.Directives(file)
	d, ok := directives.Enclosing(ds, line, directive)
	return d.Begin, d.End, ok
}

// readSource reads the first file that may be the one named.
func (o *Object) readSource(file string) source {
	src := source{Source: Source{Name: file}}
	paths := o.sourcePaths(file)
	copies := suffixesBelow(o.sources.dir, file)
	for i, path := range append(paths, copies...) {
		text, st, err := files.ReadFile(path, maxSource)
		if err != nil {
			continue
		}
		src.Path, src.Time, src.Size = path, st.ModTime(), st.Size()
		src.Newer = st.ModTime().After(o.mtime)
		if src.Newer && i < len(paths) {
			if copies != nil {
				continue
			}
			return src
		}
		src.parsed, src.Used = directives.Parse(file, string(text)), true
		return src
	}
	return src
}

// suffixesBelow returns the paths that a file may have below a directory. The first has the whole
// path of the file, the last only its name.
func suffixesBelow(dir, file string) (paths []string) {
	if dir == "" {
		return nil
	}
	rest := strings.TrimPrefix(filepath.Clean(file), "/")
	for {
		if !strings.HasPrefix(rest, "../") {
			paths = append(paths, filepath.Join(dir, rest))
		}
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return paths
		}
		rest = after
	}
}

// sourcePaths returns the paths that a source file may have: first in the file system that the
// process sees, then in ours.
func (o *Object) sourcePaths(file string) (paths []string) {
	names := []string{file}
	if !filepath.IsAbs(file) {
		names = nil
		for _, dir := range o.dwarf().CompileDirs(file) {
			names = append(names, filepath.Join(dir, file))
		}
	}
	root, _ := splitRoot(o.path)
	for _, n := range names {
		if root != "" {
			paths = append(paths, root+n)
		}
		paths = append(paths, n)
	}
	return paths
}
