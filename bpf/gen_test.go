package bpf

// The object of the tests. As this file is a test's, so is the file that is made of it. No
// other binary contains the object.
//go:generate go tool bpf2go -cc ${BPF_CLANG} -tags linux -target amd64,arm64 drive drive.bpf.c -- -I. -idirafter ${BPF_ASM} -Wall -Werror
