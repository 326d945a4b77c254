package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
)

// namespaceNode is a machine of its own, as far as programs can tell. Its namespaces hold a host
// name, a network, a CLOCK_MONOTONIC and a boot id. The kernel is shared, and its clock, too.
type namespaceNode struct {
	name, address string
	ahead         int64 // of its CLOCK_MONOTONIC before the kernel's, ns
	pid           string
}

// needNodes skips the test where machines cannot be made of namespaces, and says what is missing.
func needNodes(t *testing.T) {
	t.Helper()
	needTool(t)
	for _, c := range []string{"unshare", "nsenter", "ip", "mount"} {
		if _, err := exec.LookPath(c); err != nil {
			t.Skipf("%s is not installed (packages util-linux, iproute2)", c)
		}
	}
	for _, kind := range []string{"net", "uts", "mount", "time"} {
		if out, err := exec.Command("unshare", "--"+kind, "--fork", "true").CombinedOutput(); err != nil {
			t.Skipf("no %s namespaces here: %v: %s", kind, err, out)
		}
	}
	if out, err := exec.Command("unshare", "--net", "ip", "link", "add", "name", "one", "type", "veth", "peer", "name", "two").CombinedOutput(); err != nil {
		t.Skipf("no veth pairs here: %v: %s", err, out)
	}
}

// nodeScript makes a node of a shell's namespaces. It lives until its input ends, so that no node
// outlives the test. UCX looks for interfaces below /sys, which shows those of the namespace that
// mounted it.
const nodeScript = `set -e
dir=$1
hostname $2
mount --bind $dir/boot /proc/sys/kernel/random/boot_id
mount --bind $dir/../hosts /etc/hosts
mkdir $dir/sys
mount -t sysfs sysfs $dir/sys
mount --bind $dir/sys/devices/virtual/net /sys/devices/virtual/net
mount --bind $dir/sys/class/net /sys/class/net
ip link set lo up
echo $$
read end
`

// startNodes starts two nodes with a network between them. Their names are nodea and nodeb.
func startNodes(t *testing.T) (nodes [2]*namespaceNode, agent string) {
	t.Helper()
	needNodes(t)
	dir := t.TempDir()
	for i := range nodes {
		nodes[i] = &namespaceNode{name: "node" + string(rune('a'+i)), address: fmt.Sprintf("10.77.0.%d", i+1), ahead: (500 + int64(i)*900000) * 1e9}
	}
	put := func(name, text string, mode os.FileMode) string {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	put("hosts", fmt.Sprintf("127.0.0.1 localhost\n%s %s\n%s %s\n", nodes[0].address, nodes[0].name, nodes[1].address, nodes[1].name), 0o644)
	for i, n := range nodes {
		boot := put(n.name+"/boot", strings.Repeat(fmt.Sprint(i+1), 8)+"-1111-4111-8111-111111111111\n", 0o644)
		n.start(t, filepath.Dir(boot))
	}
	link := []string{"link", "add", "name", testbin.Fabric, "netns", nodes[0].pid, "type", "veth", "peer", "name", testbin.Fabric, "netns", nodes[1].pid}
	mustRun(t, append([]string{"ip"}, link...)...)
	for _, n := range nodes {
		mustRun(t, n.line("ip", "addr", "add", n.address+"/24", "dev", testbin.Fabric)...)
		mustRun(t, n.line("ip", "link", "set", testbin.Fabric, "up")...)
	}
	for _, n := range nodes {
		n.await(t, testbin.Fabric)
	}
	// As of ssh, words are joined for a shell, and the environment stays behind.
	const text = `#!/bin/sh
while case $1 in -*) ;; *) false ;; esac; do shift; done
case $1 in %s) pid=%s ;; %s) pid=%s ;; *) echo "no host $1" >&2; exit 255 ;; esac
shift
exec nsenter --target $pid --net --uts --mount --time env -i PATH="$PATH" HOME="$HOME" sh -c "$*"
`
	return nodes, put("agent", fmt.Sprintf(text, nodes[0].name, nodes[0].pid, nodes[1].name, nodes[1].pid), 0o755)
}

// start starts the node, with its files in dir.
func (n *namespaceNode) start(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("unshare", "--net", "--uts", "--mount", "--time", "--fork", "--monotonic", fmt.Sprint(n.ahead/1e9), "sh", "-c", nodeScript, "sh", dir, n.name)
	var said strings.Builder
	cmd.Stderr = &said
	in, out := startTalking(t, cmd)
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // by the end of its input, its status is 1
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v: %s", n.name, err, said.String())
	}
	n.pid = strings.TrimSpace(line)
}

// await waits until an interface is running. The kernel says so a moment after both sides are up,
// and UCX takes no other interfaces.
func (n *namespaceNode) await(t *testing.T, name string) {
	t.Helper()
	until(t, n.name+": the interface "+name+" runs", func() bool {
		out, err := n.output("ip", "link", "show", name)
		return err == nil && strings.Contains(string(out), "state UP")
	})
}

// line is the command line that runs argv on the node.
func (n *namespaceNode) line(argv ...string) []string {
	return append([]string{"nsenter", "--target", n.pid, "--net", "--uts", "--mount", "--time"}, argv...)
}

// output runs a command on the node.
func (n *namespaceNode) output(argv ...string) ([]byte, error) {
	line := n.line(argv...)
	return exec.Command(line[0], line[1:]...).Output()
}

// mustRun runs a command that has to succeed.
func mustRun(t *testing.T, line ...string) {
	t.Helper()
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", line, err, out)
	}
}
