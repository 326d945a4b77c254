package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
)

func summaryOf(t *testing.T, p *profile.Profile, files ...string) string {
	t.Helper()
	var buf bytes.Buffer
	if err := Summary(&buf, p, files, Options{}); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestSummaryGolden(t *testing.T) {
	reporttest.Golden(t, "plain.summary.golden", []byte(summaryOf(t, reporttest.PlainProfile(), "out/profile.ompp.txt")))
	reporttest.Golden(t, "mixed.summary.golden", []byte(summaryOf(t, reporttest.MixedProfile(), "out/profile.ompp.txt", "out/profile.pb.gz")))
}

func TestSummaryIsShort(t *testing.T) {
	p := reporttest.MixedProfile()
	p.Meta.HasTasks = true
	p.Warnings = []string{"One.", "Two.", "Three."}
	text := summaryOf(t, p, "a", "b", "c", "d")
	if n := strings.Count(text, "\n"); n > 15 {
		t.Errorf("%d lines, want at most 15:\n%s", n, text)
	}
	for _, want := range []string{"24 of 123480 events lost", "ATOMIC; tasks", "One.", "2 more", "c d"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the summary:\n%s", want, text)
		}
	}
}

func TestSummaryOfNothing(t *testing.T) {
	p := &profile.Profile{Nodes: []profile.Node{{Parent: -1, Region: -1}}}
	if text := summaryOf(t, p); !strings.Contains(text, "0.00 sec wall time") || strings.Contains(text, "NaN") {
		t.Errorf("summary of an empty profile:\n%s", text)
	}
}
