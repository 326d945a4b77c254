package system

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSchemaDocumented: docs/system.md names every field of the file.
func TestSchemaDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "system.md"))
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`json:"([a-z_0-9]+)`).FindAllSubmatch(b, -1) {
			found++
			if !bytes.Contains(doc, []byte("`"+string(m[1])+"`")) {
				t.Errorf("docs/system.md does not mention the field `%s`", m[1])
			}
		}
	}
	if found < 60 {
		t.Errorf("found %d JSON fields; has their form changed?", found)
	}
}
