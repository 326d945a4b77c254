// Package version says which version of the tool runs.
package version

import (
	"runtime/debug"
	"strings"
)

// Of returns the tool's version and the date of its commit, as the Go toolchain stamped them into
// the executable.
func Of() (version, built string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	version = strings.Trim(info.Main.Version, "()")
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.time":
			built = s.Value
		case s.Key == "vcs.revision" && version == "devel":
			version = "devel " + s.Value[:min(12, len(s.Value))]
		}
	}
	return version, built
}
