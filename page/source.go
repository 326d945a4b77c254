package page

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"ompp-attach/files"
)

const (
	mostOfRegion   = 60        // lines of a region
	mostSource     = 256 << 10 // bytes of all lines
	mostOfLine     = 300       // bytes of a line
	mostSourceFile = 8 << 20   // bytes of a file
)

// sourceTypes are the suffixes of files that are shown. The program's debug information names the
// files, and it could name any file.
var sourceTypes = []string{".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".ipp", ".tpp", ".inc", ".inl",
	".f", ".for", ".ftn", ".fpp", ".f77", ".f90", ".f95", ".f03", ".f08", ".f18", ".s", ".pyx", ".rs", ".d", ".cu"}

// readSource reads lines of a file that the program's debug information names, at most so many
// bytes. A file that was changed after the measurement began is not shown, since its lines may be
// others.
func readSource(name string, lines map[int]bool, began time.Time, most int) Source {
	s := Source{File: clean(name), Lines: map[int]string{}}
	switch {
	case !filepath.IsAbs(name):
		s.Missing = "the compiler recorded no full path"
		return s
	case !slices.Contains(sourceTypes, strings.ToLower(filepath.Ext(name))):
		s.Missing = "the file's name is not that of a source file"
		return s
	}
	b, info, err := files.ReadFile(name, mostSourceFile)
	switch {
	case err != nil:
		s.Missing = "the file cannot be read here"
	case !mayShow(name, info):
		s.Missing = "root may read the file, but the page may be read by others"
	case !began.IsZero() && info.ModTime().After(began):
		s.Missing = "the file was changed after the measurement began"
	case !utf8.Valid(b) || strings.ContainsRune(string(b), 0):
		s.Missing = "the file is no text in UTF-8"
	default:
		s.keep(string(b), lines, most)
	}
	return s
}

// mayShow tells whether the text of a file may get into a page. Root can read all files, and the
// program that names them may belong to another user. So root shows only files that everybody may
// read, and files of the user who called sudo.
func mayShow(name string, info fs.FileInfo) bool {
	if os.Geteuid() != 0 {
		return true
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && strconv.Itoa(int(st.Uid)) == os.Getenv("SUDO_UID") {
		return true
	}
	if info.Mode().Perm()&0o004 == 0 {
		return false
	}
	real, err := files.EvalSymlinks(name)
	if err != nil {
		return false
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		if info, err := files.Stat(dir); err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}

// keep keeps the wanted lines of a text, up to a number of bytes.
func (s *Source) keep(text string, lines map[int]bool, most int) {
	n := 0
	for line := range strings.Lines(text) {
		if n++; !lines[n] {
			continue
		}
		line = strings.TrimRight(line, "\r\n")
		if len(line) > mostOfLine {
			line = strings.ToValidUTF8(line[:mostOfLine], "") + " ..."
		}
		if most -= len(line); most < 0 {
			s.Missing = "the page has too much source text already"
			return
		}
		s.Lines[n] = line
	}
}
