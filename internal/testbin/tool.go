package testbin

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Tool builds the command into a file, with further flags of go build. As `make build` makes it, it
// is without libc, and by the recorded profile of hot functions. Short tests do without the
// profile, for which Go would compile every package a second time.
func Tool(file string, flags ...string) error {
	pgo := "-pgo=auto"
	if testing.Short() {
		pgo = "-pgo=off"
	}
	build := exec.Command("go", append(append([]string{"build", pgo, "-o", file}, flags...), "ompp-attach/cmd/ompp-attach")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
