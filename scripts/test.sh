#!/bin/sh
# All tests, one kind after the other, and at the end where the time went.
set -eu
cd "$(dirname "$0")/.."
. scripts/step.sh

dir=$(mktemp -d)
trap '[ ! -s "$dir/times" ] || "$dir/run" "$dir/times"; echo "The steps:${steps:-}"; rm -rf "$dir"' EXIT
go build -o "$dir/run" scripts/times.go
for kind in lint check-generated test-unit test-race test-fuzz test-e2e; do
	step "$kind" make --no-print-directory "$kind" GOTEST="$dir/run $dir/times go test"
done
