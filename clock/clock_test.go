package clock

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain prints the kernel's clock if a test has started it for that.
func TestMain(m *testing.M) {
	if os.Getenv("PRINT_CLOCK") != "" {
		r := Read()
		fmt.Println(Now(), read(unix.CLOCK_MONOTONIC), r.Monotonic)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestTimeNamespace: in a time namespace, the kernel's clock is what it is outside.
func TestTimeNamespace(t *testing.T) {
	const ahead = 100000
	before := int64(Now())
	cmd := exec.Command("unshare", "--time", "--fork", "--monotonic", strconv.Itoa(ahead), os.Args[0])
	cmd.Env = append(os.Environ(), "PRINT_CLOCK=1")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("no time namespaces here: %v", err)
	}
	after := int64(Now())
	f := strings.Fields(string(out))
	for i, shift := range []int64{0, ahead * 1e9, 0} {
		at, _ := strconv.ParseInt(f[i], 10, 64)
		if at < before+shift || at > after+shift {
			t.Errorf("%s: %d, not between %d and %d", out, at, before+shift, after+shift)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"":                0,
		"monotonic 0 0\n": 0,
		"monotonic           5         7\nboottime            9         0\n": 5e9 + 7,
		"boottime 9 0\nmonotonic -3 250000000\n":                             -3e9 + 25e7,
		"monotonic x\n":                                                      0,
	} {
		if got := parse(text); got != want {
			t.Errorf("%q: %d, not %d", text, got, want)
		}
	}
}

// TestRead: the reading lies between readings of the clocks by others.
func TestRead(t *testing.T) {
	mono, real := int64(Now()), time.Now().UnixNano()
	r := Read()
	if mono2, real2 := int64(Now()), time.Now().UnixNano(); r.Monotonic < mono || r.Monotonic > mono2 || r.Real < real || r.Real > real2 {
		t.Errorf("%+v is not between %d, %d and %d, %d", r, mono, real, mono2, real2)
	}
	if len(BootID()) != 36 || r.Within <= 0 {
		t.Errorf("boot id %q, within %d", BootID(), r.Within)
	}
}

func TestRate(t *testing.T) {
	for _, c := range []struct {
		freq, tick int64
		want       float64
	}{{0, 10000, 0}, {1 << 16, 10000, 1}, {-(500 << 16), 10000, -500}, {0, 10001, 100}, {0, 9000, -100000}} {
		if got := rate(c.freq, c.tick); got != c.want {
			t.Errorf("%d, %d: %g, not %g", c.freq, c.tick, got, c.want)
		}
	}
}
