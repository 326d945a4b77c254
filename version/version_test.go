package version

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	const (
		hash   = "0123456789abcdef0123456789abcdef01234567"
		commit = "2026-11-24T01:02:03Z"
	)
	stamped := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	for name, c := range map[string]struct {
		info           *debug.BuildInfo
		version, built string
	}{
		"nothing is stamped":    {nil, "unknown", ""},
		"a release":             {stamped("v1.2.3", "vcs.revision", hash, "vcs.time", commit), "v1.2.3", commit},
		"between releases":      {stamped("(devel)", "vcs.revision", hash, "vcs.time", commit), "devel 0123456789ab", commit},
		"the time comes first":  {stamped("(devel)", "vcs.time", commit, "vcs.revision", hash), "devel 0123456789ab", commit},
		"a short hash":          {stamped("(devel)", "vcs.revision", "0123"), "devel 0123", ""},
		"not from a repository": {stamped("(devel)", "GOOS", "linux"), "devel", ""},
	} {
		if version, built := of(c.info); version != c.version || built != c.built {
			t.Errorf("%s: got %q, %q; want %q, %q", name, version, built, c.version, c.built)
		}
	}
}

// TestOfThisBinary: a test's executable is stamped, too, so something is known of it.
func TestOfThisBinary(t *testing.T) {
	if version, _ := Of(); version == "" || version == "unknown" {
		t.Errorf("got %q", version)
	}
}
