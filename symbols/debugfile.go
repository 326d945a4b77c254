package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"hash/crc32"
	"io"
	"path/filepath"
	"regexp"
	"sync/atomic"

	"ompp-attach/files"
)

// debugRoot is where distributions install separate debug files. It is a variable, so that tests
// can change it.
var debugRoot = "/usr/lib/debug"

// processPath matches the ways to a process's files through /proc.
var processPath = regexp.MustCompile(`^(/proc/[0-9]+)/(root|map_files)(/.*)?$`)

// splitRoot splits a path into the root of the process's file system ("": our own) and the path
// inside it ("": not known).
func splitRoot(path string) (root, inside string) {
	m := processPath.FindStringSubmatch(path)
	switch {
	case m == nil:
		return "", path
	case m[2] == "map_files":
		return m[1] + "/root", ""
	}
	return m[1] + "/root", m[3]
}

// otherDebugFile finds debug files in places where distributions do not install them.
var otherDebugFile atomic.Pointer[func(buildID string) (path string, ok bool)]

// UseDebugFiles lets all objects call find, too, when they look for a separate debug file that is
// not installed. Objects that have looked for their file already do not look again; see Again.
func UseDebugFiles(find func(buildID string) (path string, ok bool)) { otherDebugFile.Store(&find) }

// Again returns a copy of the object that has not been read yet. So the copy looks again for its
// separate debug file. Both share the open file.
func (o *Object) Again() (*Object, error) {
	again, err := NewObject(o.r, o.size)
	if err != nil {
		return nil, err
	}
	again.path, again.mtime = o.path, o.mtime
	return again, nil
}

// findDebugFile looks for the separate debug file. Contents are verified, so a wrong
// version is never used.
func (o *Object) findDebugFile() *Object {
	if hasSection(o.file, "debug_line") && o.file.SectionByType(elf.SHT_SYMTAB) != nil {
		return nil
	}
	if d := o.installedDebugFile(); d != nil {
		return d
	}
	if find, id := otherDebugFile.Load(), o.BuildID(); find != nil && id != "" {
		if path, ok := (*find)(id); ok {
			return openDebugFile(path, id, 0)
		}
	}
	return nil
}

// installedDebugFile looks where gdb does: by build id, then by .gnu_debuglink. The
// container's own files come first, then the host's.
func (o *Object) installedDebugFile() *Object {
	root, inside := splitRoot(o.path)
	roots := []string{root}
	if root != "" {
		roots = append(roots, "")
	}
	id := o.BuildID()
	if len(id) > 2 {
		for _, r := range roots {
			if d := openDebugFile(r+debugRoot+"/.build-id/"+id[:2]+"/"+id[2:]+".debug", id, 0); d != nil {
				return d
			}
		}
	}
	name, crc := o.debugLink()
	if name == "" || inside == "" {
		return nil
	}
	dirs := []string{filepath.Dir(inside)}
	if p, err := files.EvalSymlinks(o.path); err == nil {
		if _, real := splitRoot(p); filepath.Dir(real) != dirs[0] {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	for _, r := range roots {
		for _, dir := range dirs {
			for _, p := range []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name), filepath.Join(debugRoot, dir, name)} {
				if d := openDebugFile(r+p, id, crc); d != nil {
					return d
				}
			}
		}
	}
	return nil
}

// openDebugFile opens the file at path if it belongs to the object. The build ids must be equal or,
// if the object has none, the checksum.
func openDebugFile(path, id string, crc uint32) *Object {
	d, err := OpenObject(path)
	if err != nil {
		return nil
	}
	if id != "" && d.BuildID() == id {
		return d
	}
	if id == "" {
		sum := crc32.NewIEEE()
		if _, err := io.Copy(sum, io.NewSectionReader(d.r, 0, d.size)); err == nil && sum.Sum32() == crc {
			return d
		}
	}
	d.Close()
	return nil
}

// DebugLink returns the name of the separate debug file, "" if the file does not state it.
func (o *Object) DebugLink() string {
	name, _ := o.debugLink()
	return name
}

// debugLink reads .gnu_debuglink: a file name, padding to 4 bytes, a CRC.
func (o *Object) debugLink() (name string, crc uint32) {
	s := o.file.Section(".gnu_debuglink")
	if s == nil {
		return "", 0
	}
	b := o.readAt(s.Offset, min(s.FileSize, 8192))
	end := bytes.IndexByte(b, 0)
	if end <= 0 || len(b) < 4 {
		return "", 0
	}
	name = string(b[:end])
	if filepath.Base(name) != name {
		return "", 0
	}
	return name, binary.LittleEndian.Uint32(b[len(b)-4:])
}
