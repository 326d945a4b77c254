package testbin

import (
	"testing"
	"time"
)

// Patience is how long a test waits for an event that comes at once on an idle machine. On a busy
// machine a thread may get no core for half a second, several times in a row.
const Patience = time.Minute

// Until waits until something has happened. It fails the test after Patience.
func Until(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for began := time.Now(); !happened(); time.Sleep(time.Millisecond) {
		if time.Since(began) > Patience {
			t.Fatalf("waited %s: %s", Patience, what)
		}
	}
}
