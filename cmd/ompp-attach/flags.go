package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"ompp-attach/profile"
)

// wanted says what a flag takes, by its name or else by the type of its value.
var wanted = map[string]string{
	"pid":      "give the number of a process, as ps or pgrep shows",
	"job":      "give the number of a process, as ps or pgrep shows",
	"int":      "give a whole number",
	"uint64":   "give a whole number, not below 0",
	"bool":     "give true or false, or the flag alone",
	"duration": "give a time with its unit, as in 30s or 5m",
}

// plainFlag tells in plain words which value a flag does not take: pflag's error ends
// with the one of Go's parser.
func plainFlag(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f, value := invalid.GetFlag(), invalid.GetValue()
	if profile.PasteableName(value) != value {
		value = fmt.Sprintf("%q", value)
	}
	for _, key := range []string{f.Name, f.Value.Type()} {
		if text, ok := wanted[key]; ok {
			return fmt.Errorf("--%s %s: %s", f.Name, value, text)
		}
	}
	return fmt.Errorf("--%s %s: %w", f.Name, value, errors.Unwrap(invalid))
}

// tellFile tells the name of a file that was written: to a program as the name is, to
// a user so that a shell takes the name.
func tellFile(name string) {
	if _, err := unix.IoctlGetTermios(int(os.Stdout.Fd()), unix.TCGETS); err == nil {
		name = profile.PasteableName(name)
	}
	fmt.Println(name)
}

// pasteable makes the lines of a text harmless to a terminal, and the names in them
// such that a user can copy and paste them.
func pasteable(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = profile.Pasteable(l)
	}
	return strings.Join(lines, "\n")
}
