package target

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ompp-attach/cache"
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
	answer := askKept(ask, askDpkg)
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
		// Packages may name it as it was before /usr was merged.
		if old, ok := strings.CutPrefix(p, "/usr"); ok {
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

// dpkgStatus changes whenever a package is installed or removed.
var dpkgStatus = "/var/lib/dpkg/status"

// mostPackages bounds the answers that are kept, in bytes and in files.
const mostPackages, mostPackaged = 1 << 20, 4096

// askKept is like ask, but takes the answer that an earlier run has kept, as long as the same
// packages are installed. It keeps new answers.
func askKept(paths []string, ask func([]string) map[string]string) map[string]string {
	if len(paths) == 0 {
		return nil
	}
	st, err := os.Stat(dpkgStatus)
	if err != nil {
		return ask(paths)
	}
	name, err := cache.Key("packages", st.ModTime().UnixNano(), st.Size())
	if err != nil {
		return ask(paths)
	}
	c, err := cache.Open("packages")
	if err != nil {
		return ask(paths)
	}
	defer c.Close()
	if !c.Ours() { // names that another user made up would stand in the report
		return ask(paths)
	}
	var kept map[string]string
	if b, err := c.Read(name, mostPackages); err != nil || json.Unmarshal(b, &kept) != nil || kept == nil {
		kept = map[string]string{}
	}
	missing := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { _, known := kept[p]; return known })
	if len(missing) == 0 {
		return kept
	}
	answer := ask(missing)
	if len(kept)+len(missing) > mostPackaged {
		kept = map[string]string{}
	}
	for _, p := range missing {
		kept[p] = answer[p]
	}
	if b, err := json.Marshal(kept); err == nil {
		_ = c.Write(name, b) // the next run asks again
	}
	return kept
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
