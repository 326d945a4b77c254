package baseline

//go:generate go tool bpf2go -cc ${BPF_CLANG} -tags linux -target amd64,arm64 baseline baseline.bpf.c -- -I../../bpf -idirafter ${BPF_ASM} -Wall -Werror
