#!/bin/sh
# Records the event streams that the replay tests use (testdata/streams). Needs
# root, gcc and clang-19. Run it when the event format changes, then renew the
# goldens: go test ./report -run Replay -update
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /tmp/streams.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$top"/testdata/programs/*.c .
gcc -O2 -g -fopenmp -ffile-prefix-map="$work"=/src constructs.c -o constructs.gcc
gcc -O2 -g -fopenmp -ffile-prefix-map="$work"=/src longrun.c -o longrun
clang-19 -O2 -g -fopenmp -ffile-prefix-map="$work"=/src constructs.c -o constructs.clang -latomic \
	-Wl,-rpath,"$(dirname "$(clang-19 -print-file-name=libomp.so)")"
record() { # NAME COMMAND...
	name=$1
	shift
	"$top/bin/ompp-attach" "$@" -q -o "$work/out.$name" --record-events "$work/$name.json.gz" $tail
	zcat "$work/$name.json.gz" | sed "s,$work,/src,g" | gzip -9n >"$top/testdata/streams/$name.json.gz"
}
export OMP_NUM_THREADS=2
tail='-- ./constructs.gcc 1' record gomp-constructs run
tail='-- ./constructs.clang 1' record kmpc-constructs run
./longrun 3 loop 20000 >/dev/null &
pid=$!
sleep 1
tail='' record gomp-attached attach --pid $pid --duration 200ms
kill $pid
ls -l "$top/testdata/streams"
