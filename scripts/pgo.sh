#!/usr/bin/env bash
# Makes cmd/ompp-attach/default.pgo, the profile by which go build compiles the tool. It is a
# profile of the engine and decoder on the streams that they are measured with. It is also one of
# the tool itself beside programs that hit many probes. As root.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for p in attribution probes/gomp; do
	name=${p##*/}
	go test "./$p" -run '^$' -bench '^(BenchmarkEngine|BenchmarkEvent)$' -benchtime 2s -cpuprofile "$dir/$name.pprof" -o "$dir/$name.test"
done
go build -pgo=off -o "$dir/ompp-attach" ./cmd/ompp-attach
for cc in gcc clang-19; do
	"$cc" -O2 -g -fopenmp -o "$dir/longrun" testdata/programs/longrun.c
	for n in 1 2 3; do
		OMP_NUM_THREADS=2 "$dir/ompp-attach" run --cpu-profile "$dir/$cc-$n.pprof" -q --overwrite -o "$dir/out" -- "$dir/longrun" 2
	done
done
go tool pprof -proto -output cmd/ompp-attach/default.pgo "$dir"/*.pprof
