#!/bin/sh
# Measures a few runs of Cannon's algorithm, predicts it on other numbers of ranks and threads, and
# compares with runs from which nothing was learnt. The results stay in ompp-demo/.
set -eu
cd "$(dirname "$0")/.."
source=testdata/programs/demo/cannon.c
out=ompp-demo/scale
. scripts/demo-common.sh
. scripts/demo-openmpi.sh

mkdir -p $out
say "The program: $source, $(wc -l <$source) lines, the paper's case; compiled as anyone would"
(set -x; $mpicc -O2 -g -fopenmp -o $out/cannon $source -lm)

# Threads that wait let others work: with up to 18 of them, there may be fewer processors.
export OMP_WAIT_POLICY=passive
size=${SIZE:-720} times=${TIMES:-3}

# measure RANKS THREADS NAME
measure() {
	OMP_NUM_THREADS=$2 bin/ompp-attach run --quiet --overwrite -o "$out/$3" -- $mpirun -n "$1" $out/cannon "$size" "$times"
}
say "Runs to learn from: 1 x 1, 1 x 2 and 4 x 1 ranks x threads, each two times"
learn=
for round in a b; do
	for cell in 1x1 1x2 4x1; do
		measure "${cell%x*}" "${cell#*x}" "$cell$round"
		learn="$learn $out/$cell$round"
	done
done
say "Runs to compare with: 4 x 2, 9 x 1, 9 x 2"
against=
for cell in 4x2 9x1 9x2; do
	measure "${cell%x*}" "${cell#*x}" "$cell"
	against="$against --against $out/$cell"
done

say "How the runs scale"
# shellcheck disable=SC2086 # lists of names without blanks
(set -x; bin/ompp-attach scaling $out/1x1a $out/1x2a $out/4x1a $out/4x2 $out/9x1 $out/9x2)
say "Predicted from the first runs, with what they themselves took for OpenMP and MPI"
# shellcheck disable=SC2086
(set -x; bin/ompp-attach predict --cores 18 $against $learn)

say "What OpenMP and MPI cost on this machine, measured for up to a minute"
(set -x; bin/ompp-attach system --quick --no-probes --overwrite --mpicc "$mpicc" --mpirun "$mpirun -n {p}" -o $out/system.json)
say "Predicted with these costs"
# shellcheck disable=SC2086
(set -x; bin/ompp-attach predict --cores 18 --system $out/system.json $against $learn)

cat <<END

Next:
  bin/ompp-attach predict --help                                 what else can be asked
  bin/ompp-attach signature -o app.json $out/4x1a     the counts behind a prediction
  SIZE=1440 sudo -E make demo-scale                              a larger product
END
