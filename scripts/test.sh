#!/bin/sh
# All tests, one kind after the other, and at the end where the time went. The emulated machines run
# beside the kinds that measure no times: a machine takes one core, and has its own time.
set -eu
cd "$(dirname "$0")/.."
. scripts/step.sh

dir=$(mktemp -d)
guests=
finish() {
	[ -z "$guests" ] || kill -- "-$guests" 2>/dev/null || true
	[ ! -s "$dir/times" ] || "$dir/run" "$dir/times"
	echo "The steps:${steps:-}"
	rm -rf "$dir"
}
trap finish EXIT

# guests_end waits for the emulated machines, and prints what their tests printed.
guests_end() {
	status=0
	wait "$guests" || status=$?
	guests=
	cat "$dir/guests"
	return "$status"
}

go build -o "$dir/run" scripts/times.go
gotest="$dir/run $dir/times go test"
# A process group of its own, which ends with this script.
setsid make --no-print-directory test-guests GOTEST="$gotest" >"$dir/guests" 2>&1 &
guests=$!
for kind in lint check-generated test-unit test-race test-fuzz; do
	step "$kind" make --no-print-directory "$kind" GOTEST="$gotest"
done
step "waiting for test-guests" guests_end
step test-e2e make --no-print-directory test-e2e GOTEST="$gotest"
