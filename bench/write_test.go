package main

import (
	"os"
	"strings"
	"testing"
)

func TestFilled(t *testing.T) {
	word := strings.Repeat("w", 59)
	for name, c := range map[string]struct{ text, want string }{
		"short lines are joined": {"a\nb c\n\nd\n", "a b c\n\nd\n"},
		"long lines are broken":  {word + " " + word + "\n", word + "\n" + word + "\n"},
		"as many as fit":         {word + " " + word[:40] + " b\n", word + " " + word[:40] + "\nb\n"},
		"items are apart":        {"- a\n  b\n- " + word + " " + word + "\n", "- a b\n- " + word + "\n  " + word + "\n"},
		"tables stay":            {"a\n| b |\n| --- |\n| c  d |\n", "a\n| b |\n| --- |\n| c  d |\n"},
		"titles stay":            {"# a\n\n## b  c\n\nd\n", "# a\n\n## b  c\n\nd\n"},
		"nothing":                {"", ""},
	} {
		if got := filled(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestBenchmarksFilled: the committed document is as its program writes it, line by line.
func TestBenchmarksFilled(t *testing.T) {
	b, err := os.ReadFile("../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	if filled(string(b)) != string(b) {
		t.Error("the lines of docs/benchmarks.md are not as long as its program writes them")
	}
}
