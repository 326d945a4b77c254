package target

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"ompp-attach/files"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// askPackages is how long the package manager may take to answer.
const askPackages = 5 * time.Second

// packages keeps the answers of the package manager, since the ranks of a job map the same files. A
// file that belongs to no package has the answer "".
var packages struct {
	sync.Mutex
	of map[string]string // by path
}

// packagesOf returns for each path the package that the file belongs to.
func packagesOf(paths []string) map[string]string {
	packages.Lock()
	defer packages.Unlock()
	var ask []string
	for _, p := range paths {
		if _, known := packages.of[p]; !known {
			ask = append(ask, p)
		}
	}
	if len(ask) > 0 && packages.of == nil {
		packages.of = map[string]string{}
	}
	answer := askDpkg(ask)
	of := map[string]string{}
	for _, p := range ask {
		packages.of[p] = answer[p]
	}
	for _, p := range paths {
		of[p] = packages.of[p]
	}
	return of
}

// askDpkg asks dpkg for the packages of all files in one call, which takes a fifth of a second.
func askDpkg(paths []string) map[string]string {
	if len(paths) == 0 {
		return nil
	}
	args := []string{"-S", "--"}
	for _, p := range paths {
		args = append(args, p)
		if old, ok := strings.CutPrefix(p, "/usr"); ok { // packages may name it as it was before /usr was merged
			args = append(args, old)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), askPackages)
	defer cancel()
	cmd := exec.CommandContext(ctx, "dpkg-query", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, _ := cmd.Output() // it fails if any of the files belongs to no package
	of := map[string]string{}
	for line := range strings.Lines(string(out)) {
		// "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6"; several packages are separated by commas.
		packages, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		name, _, _ := strings.Cut(packages, ",")
		name, _, _ = strings.Cut(name, ":")
		if !ok || strings.Contains(name, " ") { // "diversion by ..."
			continue
		}
		for _, p := range []string{path, "/usr" + path} {
			if of[p] == "" {
				of[p] = name
			}
		}
	}
	return of
}

// pythons matches the packages of Debian's Python interpreters.
var pythons = regexp.MustCompile(`^(?:lib)?(python3\.\d+)(?:-minimal|-stdlib)?$`)

// debugPackage returns the name of the Debian package with the debug information of a package.
func debugPackage(name string) string {
	if name == "libc6" {
		return "libc6-dbg"
	}
	if m := pythons.FindStringSubmatch(name); m != nil {
		return m[1] + "-dbg"
	}
	return name + "-dbgsym"
}

// NameDebugPackages names, for files without line information, the packages that have it. A file of
// a container is left out: at its path here lies another file, or none.
func NameDebugPackages(objects []profile.Object, mods []symbols.Module) {
	var paths []string
	for i := range objects {
		if o := &objects[i]; !o.Lines && isInstalled(o.Path, mods) {
			paths = append(paths, o.Path)
		}
	}
	of := packagesOf(paths)
	for i := range objects {
		if o := &objects[i]; !o.Lines && of[o.Path] != "" {
			o.Package, o.Debug = of[o.Path], debugPackage(of[o.Path])
		}
	}
}

// isInstalled tells whether a mapped file is the file that is at the same path on this system.
func isInstalled(path string, mods []symbols.Module) bool {
	st, err := files.Stat(path)
	if err != nil {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	for i := range mods {
		if ok && mods[i].Path == path && mods[i].Inode == sys.Ino {
			return true
		}
	}
	return false
}
