package reading

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/cmd/ompp-attach/cli"
)

func TestReportBy(t *testing.T) {
	dir := rankDirectory(t, 0, 3)
	for _, tt := range []struct {
		args []string
		want string // in the text, or in the error
		fail bool
	}{
		{[]string{"--by", "region", "--rank", "3", dir}, "outside of all regions", false},
		{[]string{"--by", "thread", "--rank", "3", "--format", "csv", dir}, "thread,time_ns,", false},
		{[]string{"--by", "property", "--rank", "3", "--format", "json", "-o", "-", dir}, `"by": "property"`, false},
		{[]string{"--by", "region", dir}, "outside of all regions", false},
		{[]string{"--by", "thread", "--format", "csv", dir}, "thread,time_ns,", false},
		{[]string{"--by", "moon", "--rank", "3", dir}, "there are region, construct, path, thread, property", true},
		{[]string{"--by", "region", "--rank", "3", "--format", "pprof", dir}, "with --by there are text, csv, json", true},
		{[]string{"--by", "region", "--rank", "3", "--format", "csv,json", dir}, "-o", true},
	} {
		text, err := reported(t, tt.args...)
		if tt.fail {
			var e *cli.Exit
			if !errors.As(err, &e) || e.Status != cli.BadUsage || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: error %v, want %q", tt.args, err, tt.want)
			}
			continue
		}
		if err != nil || !strings.Contains(text, tt.want) {
			t.Errorf("%q: %v, %s", tt.args, err, text)
		}
	}
	to := filepath.Join(t.TempDir(), "new")
	if _, err := reported(t, "--by", "region", "--rank", "3", "--format", "csv,text", "-o", to, dir); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"profile.rank3.by-region.csv", "profile.rank3.by-region.txt"} {
		if _, err := os.Stat(filepath.Join(to, name)); err != nil {
			t.Error(err)
		}
	}
}
