#!/bin/sh
# Profiles a small hybrid program on four MPI ranks and shows the job's report.
# The results stay in ompp-demo/.
set -eu
cd "$(dirname "$0")/.."
source=testdata/programs/demo/strips.c
out=ompp-demo
. scripts/demo-common.sh
. scripts/demo-openmpi.sh

mkdir -p $out
say "The program: $source, $(wc -l <$source) lines, heat in a plate in strips; compiled as anyone would"
(set -x; $mpicc -O2 -g -fopenmp -o $out/strips $source -lm)

# Eight threads on whatever processors there are: who waits lets others work.
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
say "Profiling it on 4 ranks with $OMP_NUM_THREADS threads each; nothing in it was changed for this"
(set -x; bin/ompp-attach run --quiet --overwrite -o $out/job -- $mpirun -n 4 $out/strips)

say "The job as a whole"
(set -x; bin/ompp-attach report $out/job)

say "All of it"
ls -1 $out/job
cat <<END

Next:
  bin/ompp-attach report --rank 2 $out/job                  one rank's own report
  bin/ompp-attach run -o DIR -- mpirun -n N YOUR_PROGRAM         your own program
  bin/ompp-attach attach --job PID_OF_MPIRUN                     a job that is running
END
