#!/bin/sh
# All tests, one kind after the other, and at the end where the time went, and what failed: a kind
# that fails does not keep the others from running. The emulated machines run beside the kinds that
# measure no times: a machine takes one core, and has its own time.
set -eu
cd "$(dirname "$0")/.."
. scripts/step.sh

dir=$(mktemp -d)
guests=
finish() {
	[ -z "$guests" ] || kill -- "-$guests" 2>/dev/null || true
	[ ! -s "$dir/times" ] || "$dir/run" "$dir/times"
	echo "The steps:$steps"
	[ -z "$failed" ] || echo "test: failed: $failed" >&2
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM # the guests' process group would not end otherwise

# guests_end waits for the emulated machines, and prints what their tests printed.
guests_end() {
	ended=0
	wait "$guests" || ended=$?
	guests=
	cat "$dir/guests"
	return "$ended"
}

go build -o "$dir/run" scripts/times.go
# The linters vet the tests, too.
gotest="$dir/run $dir/times go test -vet=off"
# A process group of its own, which ends with this script.
setsid make --no-print-directory test-guests GOTEST="$gotest" >"$dir/guests" 2>&1 &
guests=$!
export GOFLAGS="${GOFLAGS:-} -pgo=off" # as scripts/lint.sh
# Compilers, linters and tests make much garbage: collecting less often saves a fifth of their time.
# The end-to-end tests run the tool as its users do.
for kind in lint check-generated test-unit test-race test-fuzz; do
	step "$kind" env GOGC=400 make --no-print-directory "$kind" GOTEST="$gotest" || true
done
step "the rest of test-guests" guests_end || true
step test-counts make --no-print-directory test-counts GOTEST="$gotest" || true
step test-times make --no-print-directory test-times GOTEST="$gotest" || true
[ -z "$failed" ]
