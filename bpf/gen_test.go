package bpf

// The object of the tests. The directive stands in a test file, so bpf2go writes a test file, and
// no other binary contains the object.
//go:generate go tool bpf2go -cc ${BPF_CLANG} -tags linux -target amd64,arm64 drive drive.bpf.c -- -I. -idirafter ${BPF_ASM} -Wall -Werror
