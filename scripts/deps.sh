#!/bin/sh
# Installs what the given purposes need and the machine lacks (Debian and its
# kin; as root). Elsewhere it says what is missing.
#   deps.sh PURPOSE...     generate, test, demo, demo-mpi, bench, pmu
set -eu

packages() {
	case $1 in
	# clang-14 made the committed objects. Node's own packages for Debian contain npm, and conflict
	# with Debian's package of that name.
	generate) echo clang-14 libbpf-dev "$(command -v npm >/dev/null || echo nodejs npm)" ;;
	# Debian allows one libomp at a time; the tests of clang-14 borrow this one.
	test) echo gcc g++ gdb gfortran clang-14 clang-19 libomp-19-dev binutils lld-14 dwz python3-numpy libopenblas0-openmp \
		openmpi-bin libopenmpi-dev mpich libmpich-dev python3-mpi4py libcap2-bin chromium fonts-dejavu-core graphviz \
		libxml2-utils libscalapack-openmpi-dev libfftw3-dev iproute2 ;;
	demo) echo gcc clang-19 libomp-19-dev ;;
	pmu) echo qemu-system-arm qemu-system-x86 cpio gcc-12-aarch64-linux-gnu libc6-dev-arm64-cross libgomp1-arm64-cross ;;
	demo-mpi) echo gcc libc6-dev openmpi-bin libopenmpi-dev ;;
	bench) echo gcc clang-19 libomp-19-dev bpftrace linux-perf openmpi-bin libopenmpi-dev mpich libmpich-dev ;;
	*) echo "deps.sh: no purpose $1" >&2; exit 2 ;;
	esac
}

wanted=
for purpose in "$@"; do
	wanted="$wanted $(packages "$purpose")"
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "deps.sh: this is no Debian; please see yourself that you have the like of:$wanted" >&2
	exit 0
fi

missing=
for p in $wanted; do
	case " $missing " in *" $p "*) continue ;; esac
	status=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "deps.sh: not installed:$missing" >&2
	echo "deps.sh: as root, run: apt-get install -y --no-install-recommends$missing" >&2
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# A later Debian no longer has the older compilers; what needs them is skipped
# there, and says so.
have=
for p in $missing; do
	if apt-cache show "$p" >/dev/null 2>&1; then
		have="$have $p"
	else
		echo "deps.sh: this release has no package $p" >&2
	fi
done
[ -n "$have" ] || exit 0
echo "installing:$have"
# shellcheck disable=SC2086
apt-get -qq install -y --no-install-recommends $have >/dev/null
