package testbin

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Fabric is the name of the network interface between the nodes of LaunchOn.
const Fabric = "fabric"

// LaunchOn returns the command line that starts ranks of argv on several nodes, over TCP. hosts are
// the nodes' names with the number of their ranks ("node:2"), the launcher's node first. agent is
// the command that runs a command on another node, as ssh does.
func (m MPI) LaunchOn(agent string, hosts []string, ranks int, argv ...string) []string {
	on := strings.Join(hosts, ",")
	line := []string{"mpirun." + string(m)}
	if m == OpenMPI {
		// Of 4.1.4's ways to access memory over TCP, pt2pt works. It is not taken by itself there.
		for _, x := range [][2]string{{"plm", "rsh"}, {"plm_rsh_agent", agent}, {"pml", "ob1"}, {"btl", "tcp,self"}, {"osc", "pt2pt"},
			{"btl_tcp_if_include", Fabric}, {"oob_tcp_if_include", Fabric}, {"mpi_yield_when_idle", "1"}} {
			line = append(line, "--mca", x[0], x[1])
		}
		line = append(line, "--oversubscribe", "--host", on)
	} else {
		line = append(line, "-launcher", "ssh", "-launcher-exec", agent, "-iface", Fabric, "-hosts", on)
	}
	return append(append(line, "-n", strconv.Itoa(ranks)), argv...)
}

// LaunchOnEnv is LaunchEnv for LaunchOn.
func (m MPI) LaunchOnEnv(t testing.TB) []string {
	t.Helper()
	if m == OpenMPI {
		return m.LaunchEnv(t)
	}
	leave := compile(t, "gcc", filepath.Join(Repo(t), "testdata", "truth", "mpich_leave.c"), []string{"-O2", "-g", "-fPIC", "-shared"}, nil)
	return []string{"LD_PRELOAD=" + yielding(t) + ":" + leave, "UCX_TLS=tcp,self", "UCX_NET_DEVICES=" + Fabric}
}
