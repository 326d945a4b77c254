// Package version says which version of the tool runs.
package version

import (
	"runtime/debug"
	"strings"
)

// Of returns the tool's version and the time of its commit (RFC 3339), as the Go toolchain stamped
// them into the executable. A version without a release is "devel" and the beginning of the
// commit's hash. What the toolchain did not stamp is "unknown" and "".
func Of() (version, built string) {
	info, _ := debug.ReadBuildInfo()
	return of(info)
}

// of is Of for what was stamped; nil: nothing.
func of(info *debug.BuildInfo) (version, built string) {
	if info == nil {
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
