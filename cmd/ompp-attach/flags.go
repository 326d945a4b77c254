package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"ompp-attach/profile"
)

// wanted says which values a flag takes, by the flag's name or by the type of its value.
var wanted = map[string]string{
	"pid":      "give the number of a process, as ps or pgrep shows",
	"job":      "give the number of a process, as ps or pgrep shows",
	"int":      "give a whole number",
	"uint64":   "give a whole number, not below 0",
	"bool":     "give true or false, or the flag alone",
	"duration": "give a time with its unit, as in 30s or 5m",
}

// plainFlag says in plain words that a flag does not take a value. pflag's own error ends with the
// error of Go's parser.
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
