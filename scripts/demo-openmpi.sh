# Shared by the demos with MPI: sets mpicc and mpirun, and installs Open MPI if there is none.

# Debian names Open MPI's commands so, in case there is another MPI.
mpi() { command -v "$1.openmpi" || command -v "$1"; }
if ! mpi mpicc >/dev/null || ! mpi mpirun >/dev/null; then
	echo "$(basename "$0" .sh): there is no MPI library here; Open MPI is installed for the demo."
	scripts/deps.sh demo-mpi
fi
mpicc=$(basename "$(mpi mpicc)")
mpirun=$(basename "$(mpi mpirun)")
# Ignored by other libraries than Open MPI: root may run it, on few processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
