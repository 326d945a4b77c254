#!/bin/sh
# Profiles a small real program, once built by GCC and once by Clang, and shows
# what the reports say. The results stay in ompp-demo/.
set -eu
cd "$(dirname "$0")/.."
source=testdata/programs/demo/plate.c
out=ompp-demo
. scripts/demo-common.sh

# clang_with_openmp prints a clang that can link OpenMP programs.
clang_with_openmp() {
	for c in clang clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
		command -v $c >/dev/null || continue
		case $($c -print-file-name=libomp.so) in /*) echo $c; return ;; esac
	done
}
if ! command -v gcc >/dev/null || [ -z "$(clang_with_openmp)" ]; then
	scripts/deps.sh demo
fi
clang=$(clang_with_openmp)

mkdir -p $out
say "The program: $source, $(wc -l <$source) lines, heat in a plate; compiled as anyone would"
(set -x; gcc -O2 -g -fopenmp -o $out/plate-gcc $source -lm)
if [ -n "$clang" ]; then
	folder=$(dirname "$(readlink -f "$($clang -print-file-name=libomp.so)")")
	(set -x; $clang -O2 -g -fopenmp -o $out/plate-clang $source -lm "-Wl,-rpath,$folder")
else
	echo "demo: no clang with libomp can be had here: only gcc's program is shown" >&2
fi

OMP_NUM_THREADS=${OMP_NUM_THREADS:-$(n=$(nproc); [ "$n" -gt 4 ] && n=4; echo "$n")}
export OMP_NUM_THREADS

# section FILE TITLE prints one section of an ompP report.
section() {
	awk -v title="ompP $2     -" '
		/^-+$/ { next }
		/^----     ompP / { on = index($0, title) }
		on && /^$/ { blank = 1; next }
		on { if (blank) print ""; blank = 0; print }' "$1"
}

for p in gcc clang; do
	[ -x $out/plate-$p ] || continue
	say "Profiling the program that $p built, with $OMP_NUM_THREADS threads; nothing in it was changed for this"
	(set -x; bin/ompp-attach run --quiet --overwrite -o $out/$p -- $out/plate-$p)
	report=$out/$p/profile.ompp.txt

	say "The regions found, worst first: thread seconds, overhead, executions; file and lines as in the source"
	section $report "Regions by Time" | head -n 20
	say "Where the time went: the regions as they nest; inclusive and exclusive seconds per thread"
	section $report "Callgraph" | head -n 40
	say "One region in detail: the critical section, thread by thread (seconds; enterT is waiting)"
	section $report "Flat Region Profile (inclusive data)" | awk '/ CRITICAL$/ { on = 1 } on && /^$/ { exit } on'
	say "What parallel execution costs: waiting (Synch), uneven work (Imbal), idle threads (Limpar), overhead (Mgmt)"
	section $report "Overhead Analysis Report" | awk '/^Overheads wrt. whole program/ { on = 1 } on'
	say "The same as findings, worst first"
	section $report "Performance Properties Report" | awk '/^Property/ { n++ } n <= 5'
	say "And for the tools that read pprof: go tool pprof -top $out/$p/profile.pb.gz"
	go tool pprof -top -nodecount=10 $out/$p/profile.pb.gz
done

say "All of it"
ls -1 $out/*/*
cat <<'END'

Next:
  xdg-open ompp-demo/gcc/profile.html                   all of it as a page for the browser
  go tool pprof -http=: ompp-demo/gcc/profile.pb.gz     the same in a browser, with flame graph and source
  bin/ompp-attach run -- YOUR_PROGRAM                   your own program
  bin/ompp-attach attach --pid PID                      one that is running
END
