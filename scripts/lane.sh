#!/bin/sh
# A lane of scripts/test.sh: kinds of tests (targets of the Makefile), one after the other.
#   lane.sh FILE GOTEST KIND...    # FILE.steps and FILE.failed: how long each took, what failed
set -eu
cd "$(dirname "$0")/.."
. scripts/step.sh

file=$1 gotest=$2
shift 2
# The emulated machines take longest, and one core, so the other lanes give way to them. A lane is a
# session: where the kernel shares processors by sessions, the session's niceness counts.
if [ "$*" != test-guests ]; then
	renice -n 2 $$ >/dev/null || true
	(echo 2 >/proc/self/autogroup) 2>/dev/null || true
fi
for kind in "$@"; do
	step "$kind" make --no-print-directory "$kind" GOTEST="$gotest" || true
done
printf %s "$steps" >"$file.steps"
printf %s "$failed" >"$file.failed"
