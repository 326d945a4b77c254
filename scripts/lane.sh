#!/bin/sh
# A lane of scripts/test.sh: kinds of tests (targets of the Makefile), one after the other.
#   lane.sh FILE GOTEST KIND...    # FILE.steps and FILE.failed: how long each took, what failed
set -eu
cd "$(dirname "$0")/.."
. scripts/step.sh

file=$1 gotest=$2
shift 2
for kind in "$@"; do
	step "$kind" make --no-print-directory "$kind" GOTEST="$gotest" || true
done
printf %s "$steps" >"$file.steps"
printf %s "$failed" >"$file.failed"
