package sampling

import (
	"encoding/binary"
	"maps"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/symbols"
)

// machineCode is code from address 0x1000 on.
type machineCode struct {
	arch  string
	bytes []byte
}

func (c machineCode) Read(vaddr uint64, n int) []byte {
	at := vaddr - 0x1000
	if vaddr < 0x1000 || at >= uint64(len(c.bytes)) {
		return nil
	}
	return c.bytes[at:min(at+uint64(n), uint64(len(c.bytes)))]
}

func (c machineCode) FuncRange(uint64) (lo, hi uint64, ok bool) { return 0, 0, false }

func (c machineCode) Symbol(string) []uint64 { return nil }

func (c machineCode) Arch() string { return c.arch }

// The addresses at which the kernel sees a thread while it handles a probe: the instruction, the
// address behind the breakpoint, and the instruction's target. An address behind a system call is
// none of them, because the thread may be in the kernel for that call.
func TestStandings(t *testing.T) {
	for _, c := range []struct {
		name, arch string
		bytes      []byte
		at         uint64
		want       map[uint64]standing
	}{
		{"mov %rsp,%rbp", "amd64", []byte{0x48, 0x89, 0xe5, 0x90}, 0x1000, map[uint64]standing{0x1000: atProbe, 0x1001: atProbe, 0x1003: atProbe}},
		{"push", "amd64", []byte{0x55, 0x90}, 0x1000, map[uint64]standing{0x1000: atProbe, 0x1001: atProbe}},
		{"call", "amd64", []byte{0xe8, 0x10, 0, 0, 0, 0x90}, 0x1000, map[uint64]standing{0x1000: atProbe, 0x1001: atProbe, 0x1015: atProbe}},
		{"je", "amd64", []byte{0x74, 0x10, 0x90}, 0x1000, map[uint64]standing{0x1000: atProbe, 0x1001: atProbe, 0x1002: atProbe, 0x1012: atProbe}},
		{"ret", "amd64", []byte{0xc3, 0x90}, 0x1000, map[uint64]standing{0x1000: atReturn, 0x1001: atReturn}},
		{"push behind syscall", "amd64", []byte{0x0f, 0x05, 0x55, 0x90}, 0x1002, map[uint64]standing{0x1003: atProbe}},
		{"jmp to behind syscall", "amd64", []byte{0x0f, 0x05, 0x90, 0xeb, 0xfd}, 0x1003, map[uint64]standing{0x1003: atProbe, 0x1004: atProbe}},
		{"nop", "arm64", []byte{0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5}, 0x1000, map[uint64]standing{0x1000: atProbe, 0x1004: atProbe}},
		{"nop behind svc", "arm64", []byte{0x01, 0, 0, 0xd4, 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5}, 0x1004, map[uint64]standing{0x1008: atProbe}},
	} {
		if got := standings(machineCode{c.arch, c.bytes}, c.at); !maps.Equal(got, c.want) {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}

func TestProbing(t *testing.T) {
	mods := []symbols.Module{{Start: 0x5000, End: 0x9000, Bias: 0x4000}}
	probed := probedPlaces{mods[0].Object(): {0x1000: atProbe, 0x1001: atProbe, 0x1010: atReturn}}
	const kernel, user = bpf.SampleKernel, 0
	seen := returnedTo{}
	var r bpf.SampleRecord
	r.Trampoline = 0x7fff0000
	r.Returns[0] = 0x6000
	r.Bytes = binary.LittleEndian.AppendUint64(nil, 0x7000) // on top of the stack
	for _, c := range []struct {
		name  string
		flags uint16
		ip    uint64
		want  bool
	}{
		{"in the kernel, at a probe", kernel, 0x5000, true},
		{"behind the breakpoint", kernel, 0x5001, true},
		{"elsewhere", kernel, 0x5002, false},
		{"in no file", kernel, 0x1000, false},
		{"user code at a probe", user, 0x5000, false},
		{"where the call may lead from which a probed return comes", kernel, 0x7000, false},
		{"at a probed return", kernel, 0x5010, true},
		{"where that leads", kernel, 0x7000, true},
		{"where a probed function returns to", kernel, 0x6000, true},
		{"having gone on from there", user, 0x6000, false},
		{"in the trampoline's system call", kernel, 0x7fff000d, true},
		{"in the trampoline", user, 0x7fff0000, true},
		{"behind it", user, 0x7fff1000, false},
	} {
		r.Flags, r.Ip = c.flags, c.ip
		if got := probed.probing(mods, seen, &r); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
