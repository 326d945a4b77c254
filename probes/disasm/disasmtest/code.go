package disasmtest

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// Arches are the architectures that are decoded.
var Arches = []string{"amd64", "arm64"}

// Code returns the piece of code that hexadecimal digits, with spaces between, spell.
func Code(t testing.TB, arch, digits string) Bytes {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return Bytes{At: 0x1000, Data: b, ForArch: arch}
}

// Seeds gives a fuzz test pieces of code of both architectures.
func Seeds(f *testing.F) {
	for _, s := range []string{"\xf3\x0f\x1e\xfa\x41\x55\xc3", "\xf0\x0f\xb1\x17\x75\x01\xc3", "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00",
		"\xc5\xf8\x77\x62\xf1\x7c\x48\x10\x00", "\x64\x8b\x04\x25\xd8\xff\xff\xff\xc3", "\xeb\xfe\x74\xfc\xff\x25\x00\x00\x00\x00",
		"\xfd\x7b\xbd\xa9\x61\x02\x00\x90\x21\xc8\x47\xf9\x40\xd0\x3b\xd5\xc0\x03\x5f\xd6"} {
		f.Add([]byte(s))
	}
}

// Libgomp opens the installed libgomp, as Debian and Fedora have it, and returns its path. Without
// one the test is skipped.
func Libgomp(t testing.TB) (*File, string) {
	t.Helper()
	for _, p := range []string{"/usr/lib/x86_64-linux-gnu/libgomp.so.1", "/usr/lib/aarch64-linux-gnu/libgomp.so.1", "/usr/lib64/libgomp.so.1"} {
		f, err := Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return f, p
	}
	t.Skip("libgomp is not installed")
	return nil, ""
}
