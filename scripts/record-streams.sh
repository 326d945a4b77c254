#!/bin/sh
# Records the event streams that the replay tests use (testdata/streams). Needs
# root, gcc and clang-19. Run it when the event format changes, then renew the
# goldens: go test ./report -run Replay -update
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /tmp/streams.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
[ $# -gt 0 ] || set -- gomp-constructs kmpc-constructs gomp-newer kmpc-newer gomp-tasks kmpc-tasks gomp-inline gomp-attached
wanted=" $* " # names, to record some only
cp "$top"/testdata/programs/*.c .
libomp=$(dirname "$(clang-19 -print-file-name=libomp.so)")
for p in constructs newer tasks inline longrun; do
	gcc -O2 -g -fopenmp -ffile-prefix-map="$work"=/src $p.c -o $p.gcc
done
for p in constructs newer tasks; do
	clang-19 -O2 -g -fopenmp -ffile-prefix-map="$work"=/src $p.c -o $p.clang -latomic -Wl,-rpath,"$libomp"
done
record() { # NAME COMMAND...
	name=$1
	shift
	case $wanted in *" $name "*) ;; *) return ;; esac
	"$top/bin/ompp-attach" "$@" --quiet -o "$work/out.$name" --record-events "$work/$name.json.gz" $tail
	zcat "$work/$name.json.gz" | sed "s,$work,/src,g" | gzip -9n >"$top/testdata/streams/$name.json.gz"
}
export OMP_NUM_THREADS=2 OMP_CANCELLATION=true OMP_MAX_ACTIVE_LEVELS=4
for p in gomp:gcc kmpc:clang; do
	tail="-- ./constructs.${p#*:} 1" record ${p%:*}-constructs run
	tail="-- ./newer.${p#*:} 2 8" record ${p%:*}-newer run
	tail="-- ./tasks.${p#*:} kinds 4" record ${p%:*}-tasks run
done
tail="-- ./inline.gcc" record gomp-inline run
./longrun.gcc 3 loop 20000 >/dev/null &
pid=$!
sleep 1
tail='' record gomp-attached attach --pid $pid --duration 200ms
kill $pid
ls -l "$top/testdata/streams"
