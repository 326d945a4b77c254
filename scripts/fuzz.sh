#!/bin/sh
# Fuzzes every decoder and parser: what they read comes from others. fuzz.sh [TIME [TARGET...]]: each
# target for so long (default 5s), or those whose names match one of the patterns. An input may take
# 10 s of processor time and 1 GB (internal/hostile); what fails is kept in the package's testdata/fuzz.
set -eu
cd "$(dirname "$0")/.."
each=${1:-5s}
[ $# -eq 0 ] || shift
wanted=$(IFS='|'; echo "${*:-.}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM
# A leak must not take the machine with it.
ulimit -v 16000000 || true
GOMEMLIMIT=${GOMEMLIMIT:-768MiB}
export GOMEMLIMIT

# Before Go 1.27 the end of the given time may itself be told as a failure (golang.org/issue/75804).
# Then there is this sentence alone, and no failing input.
only_time_was_up() {
	[ "$(grep -A1 '^--- FAIL: Fuzz' "$dir/log" | tail -n +2 | tr -d ' ')" = contextdeadlineexceeded ] &&
		! grep -q 'Failing input written' "$dir/log"
}

failed=
for package in $(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u); do
	targets=$(cat "$package"/*_test.go | sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' | grep -E "$wanted" || true)
	for target in $targets; do
		if go test "./$package" -run '^$' -fuzz "^$target\$" -fuzztime "$each" -fuzzminimizetime 1s -parallel 2 >"$dir/log" 2>&1 || only_time_was_up; then
			echo "$package $target: $(grep -o 'execs: [0-9]*' "$dir/log" | tail -1)"
		else
			cat "$dir/log"
			failed="$failed $package.$target"
		fi
	done
done
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
