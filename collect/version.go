package collect

import "runtime/debug"

// Version returns the tool's version and the date of its commit, as the Go
// toolchain stamped them into the executable.
func Version() (version, built string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			built = s.Value
		}
	}
	return version, built
}
