package reading

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/cmd/ompp-attach/cli"
)

func TestReportProperties(t *testing.T) {
	dir := rankDirectory(t, 0, 3)
	for _, tt := range []struct {
		args []string
		want string // in the text, or in the error
		fail bool
	}{
		{[]string{"--properties", dir}, "of 2 ranks. Shares are", false},
		{[]string{"--properties", "--rank", "3", dir}, "What costs time, worst first:", false},
		{[]string{"--properties", "--format", "csv", dir}, "property,name,unit,path,", false},
		{[]string{"--properties", "--format", "json", "-o", "-", dir}, `"thread_time_ns":`, false},
		{[]string{"--property", "Brief: EXECT < 1000", dir}, "What costs time, worst first:", false},
		{[]string{"--property", "Brief: EXECT < 1000", "--property", "Brief: EXECT > 1", dir}, "given twice", true},
		{[]string{"--property", "EXECT", dir}, "write 'NAME: FORMULA > NUMBER'", true},
		{[]string{"--property", "Slow: instructions/cycles < 1", "--rank", "3", dir}, "not counted", true},
		{[]string{"--properties", "--format", "pprof", dir}, "with --properties there are text, csv, json", true},
		{[]string{"--properties", "--format", "csv,json", dir}, "-o", true},
		{[]string{"--format", "tau", "-o", "-", dir}, "give a directory", true},
		{[]string{"--format", "tau", "-o", "-", "--rank", "3", dir}, "give a directory", true},
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
	for _, args := range [][]string{{"--properties", "--format", "csv,text"}, {"--format", "cube,tau"}, {"--format", "cube,tau", "--rank", "3"}} {
		if _, err := reported(t, append(args, "-o", to, dir)...); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"job.properties.csv", "job.properties.txt", "job.cubex", "job.tau/profile.3.0.0", "profile.rank3.cubex", "profile.rank3.tau/profile.3.0.0"} {
		if _, err := os.Stat(filepath.Join(to, name)); err != nil {
			t.Error(err)
		}
	}
}
