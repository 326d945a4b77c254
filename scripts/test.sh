#!/bin/sh
# All tests, and at the end where the time went, and what failed: a kind that fails does not keep the
# others from running. Kinds that measure no times run in three lanes at once. One alone leaves
# processors idle where it waits, links, or emulates a machine, which takes one core and has its own
# time. Tests of times run last, alone.
set -eu
cd "$(dirname "$0")/.."
. scripts/step.sh

dir=$(mktemp -d)
lanes= # PID:NAME
finish() {
	for lane in $lanes; do
		kill -- "-${lane%:*}" 2>/dev/null || true
	done
	[ ! -s "$dir/times" ] || "$dir/run" "$dir/times"
	echo "The steps; between the first and the last, three lanes shared the processors:$steps"
	[ -z "$failed" ] || echo "test: failed: $failed" >&2
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM # the lanes' process groups would not end otherwise

# lane starts kinds of tests, one after the other, in a process group that ends with this script.
lane() {
	name=$1
	shift
	setsid scripts/lane.sh "$dir/$name" "$gotest" "$@" 2>&1 &
	lanes="$lanes $!:$name"
}

# ended waits for a lane, and takes its figures. A lane that was killed has none, and failed.
ended() {
	for lane in $lanes; do
		[ "${lane#*:}" != "$1" ] || wait "${lane%:*}" || true
	done
	steps="$steps$(cat "$dir/$1.steps" 2>/dev/null || printf '\n    %s: FAILED' "$1")"
	lost=$(cat "$dir/$1.failed" 2>/dev/null || echo "$1")
	failed="$failed${failed:+${lost:+, }}$lost"
}

go build -o "$dir/run" scripts/times.go
# The linters vet the tests, too.
gotest="$dir/run $dir/times go test -vet=off"
export GOFLAGS="${GOFLAGS:-} -pgo=off" # as scripts/lint.sh
# What more than one lane needs is compiled before they begin.
compile() { go build ./... && GOARCH=arm64 go build ./...; }
step compile compile || true
# The end-to-end tests run the tool as its users do.
lane guests test-guests >"$dir/guests"
lane counts test-counts >"$dir/counts"
# Compilers, linters and tests make much garbage: collecting less often saves a fifth of their time.
export GOGC=400
lane units lint check-generated test-unit test-race test-fuzz
unset GOGC
ended units
for name in guests counts; do
	ended "$name"
	cat "$dir/$name"
done
lanes=
step test-times make --no-print-directory test-times GOTEST="$gotest" || true
[ -z "$failed" ]
