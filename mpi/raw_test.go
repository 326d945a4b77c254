package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	for _, tc := range []struct {
		op   string
		raw  Raw
		c    *Constants
		want Args
	}{
		{"MPI_Recv", Raw{Args: Args{Send: garbage, Recv: 8, Peer: -1, Tag: -1}}, &OpenMPIConstants,
			Args{Recv: 8, Peer: AnySource, Peer2: NoPeer, Tag: -1}},
		{"MPI_Recv", Raw{Args: Args{Recv: 8, Peer: -1}}, &MPICHConstants,
			Args{Peer: ProcNull, Peer2: NoPeer}},
		{"MPI_Sendrecv", Raw{Args: Args{Send: 8, Recv: 9, Peer: 3, Peer2: -2, Tag: 7}}, &OpenMPIConstants,
			Args{Send: 8, Peer: 3, Peer2: ProcNull, Tag: 7}},
		{"MPI_Allreduce", Raw{Args: Args{Send: 8, Recv: 8, Size: 2, Tag: garbage, Peer: garbage}, SendBuf: 1}, &OpenMPIConstants,
			Args{Send: 8, Recv: 8, Size: 2, Peer: NoPeer, Peer2: NoPeer, Flags: InPlaceSend}},
		// The buffer is an address.
		{"MPI_Allreduce", Raw{Args: Args{Send: 8, Recv: 8, Size: 2}, SendBuf: 1}, &MPICHConstants,
			Args{Send: 8, Recv: 8, Size: 2, Peer: NoPeer, Peer2: NoPeer}},
		{"MPI_Scatter", Raw{Args: Args{Send: 8, Recv: garbage, Size: 2, Peer: -4, Flags: Inter}}, &OpenMPIConstants,
			Args{Send: 8, Size: 2, Peer: RootHere, Peer2: NoPeer, Flags: Inter}},

		// Read once.
		{"MPI_Reduce_scatter", Raw{Args: Args{Recv: 48, Size: 3, Rank: 1}, Own: 16, SendBuf: 1}, &OpenMPIConstants,
			Args{Send: 32, Recv: 16, Size: 3, Rank: 1, Peer: NoPeer, Peer2: NoPeer, Flags: InPlaceSend}},

		// Something unread matters only where it would count.
		{"MPI_Gather", Raw{Args: Args{Send: 8, Size: 2, Rank: 1}, Unread: UnreadRecv}, &MPICHConstants,
			Args{Send: 8, Size: 2, Rank: 1, Peer2: NoPeer}},
		{"MPI_Gather", Raw{Args: Args{Send: 8, Size: 2}, Unread: UnreadRecv}, &MPICHConstants,
			Args{Send: 8, Size: 2, Peer2: NoPeer, Flags: UnknownVolume}},
		{"MPI_Alltoallw", Raw{Args: Args{Recv: 8, Size: 2}, SendBuf: ^uint64(0), Unread: UnreadSend}, &MPICHConstants,
			Args{Send: 8, Recv: 8, Size: 2, Peer: NoPeer, Peer2: NoPeer, Flags: InPlaceSend}},
		{"MPI_Alltoallw", Raw{Args: Args{Size: 2}, SendBuf: ^uint64(0), Unread: UnreadRecv}, &MPICHConstants,
			Args{Size: 2, Peer: NoPeer, Peer2: NoPeer, Flags: InPlaceSend | UnknownVolume}},
		{"MPI_Scatterv", Raw{Args: Args{Size: 2}, RecvBuf: ^uint64(0), Unread: UnreadSend}, &MPICHConstants,
			Args{Size: 2, Peer2: NoPeer, Flags: InPlaceRecv | UnknownVolume}},
		{"MPI_Scatter", Raw{Args: Args{Send: 8, Size: 2}, RecvBuf: ^uint64(0), Unread: UnreadRecv}, &MPICHConstants,
			Args{Send: 8, Recv: 8, Size: 2, Peer2: NoPeer, Flags: InPlaceRecv}},
		{"MPI_Send", Raw{Args: Args{Send: 8, Peer: 1}, Unread: UnreadComm | UnreadRecv}, &MPICHConstants,
			Args{Send: 8, Peer: 1, Peer2: NoPeer}},
		{"MPI_Send", Raw{Args: Args{Peer: -1}, Unread: UnreadSend}, &MPICHConstants,
			Args{Peer: ProcNull, Peer2: NoPeer}},
		{"MPI_Bcast", Raw{Args: Args{Send: 8, Recv: 8, Peer: 1}, Unread: UnreadComm}, &MPICHConstants,
			Args{Recv: 8, Peer: 1, Peer2: NoPeer, Flags: UnknownVolume}},
		{"MPI_Comm_dup", Raw{Unread: UnreadSend | UnreadRecv | UnreadComm}, &MPICHConstants,
			Args{Peer: NoPeer, Peer2: NoPeer}},
		{"MPI_Send_init", Raw{Args: Args{Peer: 1}, Unread: UnreadSend}, &MPICHConstants,
			Args{Peer: 1, Peer2: NoPeer}},
		{"MPI_Send_init", Raw{Args: Args{Peer: 1, Flags: Started}, Unread: UnreadSend}, &MPICHConstants,
			Args{Peer: 1, Peer2: NoPeer, Flags: Started | UnknownVolume}},
	} {
		o, ok := ParseOp(tc.op)
		if !ok {
			t.Fatalf("no operation %s", tc.op)
		}
		if got := o.Args(&tc.raw, tc.c); got != tc.want {
			t.Errorf("%s %+v:\n got %+v\nwant %+v", tc.op, tc.raw, got, tc.want)
		}
	}
}

// TestUnknownVolume: volumes that are not known are not counted.
func TestUnknownVolume(t *testing.T) {
	o, _ := ParseOp("MPI_Send")
	if v := o.Volume(&Args{Send: 8, Peer: 1, Flags: UnknownVolume}, Naive); v != (Volume{}) {
		t.Errorf("%+v", v)
	}
}

// TestStatusAgreesWithHeaders: a status is as large as the compiler says, and has source and tag
// where the compiler says.
func TestStatusAgreesWithHeaders(t *testing.T) {
	for pattern, c := range map[string]Constants{
		"/usr/lib/*/openmpi/include": OpenMPIConstants,
		"/usr/include/*/mpich":       MPICHConstants,
	} {
		t.Run(filepath.Base(pattern), func(t *testing.T) {
			dirs, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			if len(dirs) == 0 {
				t.Skipf("no %s", pattern)
			}
			text := fmt.Sprintf("#include <stddef.h>\n#include <mpi.h>\n"+
				"_Static_assert(sizeof(MPI_Status) == %d && offsetof(MPI_Status, MPI_SOURCE) == %d && offsetof(MPI_Status, MPI_TAG) == %d, \"\");\n",
				c.StatusSize, c.StatusSource, c.StatusSource+4)
			cmd := exec.Command("gcc", "-fsyntax-only", "-I", dirs[0], "-x", "c", "-")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestConstantsAgreeWithHeaders reads the constants from the installed mpi.h.
func TestConstantsAgreeWithHeaders(t *testing.T) {
	for pattern, c := range map[string]Constants{
		"/usr/lib/*/openmpi/include/mpi.h": OpenMPIConstants,
		"/usr/include/*/mpich/mpi.h":       MPICHConstants,
	} {
		t.Run(filepath.Base(filepath.Dir(pattern)), func(t *testing.T) {
			files, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			if len(files) == 0 {
				t.Skipf("no %s", pattern)
			}
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]int64{
				"MPI_PROC_NULL": int64(c.ProcNull), "MPI_ANY_SOURCE": int64(c.AnySource), "MPI_ROOT": int64(c.Root),
				"MPI_ANY_TAG": -1, "MPI_IN_PLACE": int64(c.InPlace),
			} {
				m := regexp.MustCompile(`#define +` + name + `\s+[(]*(?:void *\*\))? *(-?\d+)`).FindSubmatch(text)
				if m == nil || string(m[1]) != fmt.Sprint(value) {
					t.Errorf("%s: %s is %q, not %d", files[0], name, m, value)
				}
			}
		})
	}
}
