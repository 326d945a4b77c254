#!/bin/bash
# Runs programs in an emulated machine of arm64 or of x86-64. The one of arm64 has a performance
# monitoring unit (QEMU's PMUv3), as virtual machines rarely show.
#
#	scripts/guest.sh [-a arm64|amd64] [-k 5.10|6.1|6.12] [-c CPU] SCRIPT FILE...
#
# SCRIPT (lines of sh) runs there as root, the FILEs lie in /bin. The exit status is the
# script's. Kernel and libraries are Debian's, from the mirror that apt knows; a guest of x86-64
# has the libraries that the FILEs use here. Downloads are kept in
# $OMPP_GUEST (default ~/.cache/ompp-attach-guest).
set -euo pipefail

arch=arm64 kernel=6.1 cpu=
while getopts a:k:c: o; do
	case $o in
	a) arch=$OPTARG ;;
	k) kernel=$OPTARG ;;
	c) cpu=$OPTARG ;; # "cortex-a57,pmu=off": a machine without counters
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
script=$1
shift
case $kernel in
5.10) suite=bullseye ;;
6.1) suite=bookworm ;;
6.12) suite=bookworm-backports ;;
*) echo "guest.sh: there are kernels 5.10, 6.1 and 6.12" >&2; exit 2 ;;
esac
case $arch in
# -icount: without a fixed rate of instructions QEMU does not count them.
arm64) qemu=(qemu-system-aarch64 -machine virt -cpu "${cpu:-cortex-a57}" -icount shift=0) console=ttyAMA0
	packages=(busybox-static libc6 libgomp1 libgcc-s1) ;;
# One thread for all processors: where each has its own, QEMU 7.2 may go on to execute an
# int3 that the kernel has replaced. The kernel writes one each time it changes its own code, as it
# does for tracepoints and BPF programs. 6.1 then traps for ever. 6.12 panics with "Oops: int3".
# QEMU translated the page before it watched the page for writes (tb_gen_code, tb_link_page).
amd64) qemu=(qemu-system-x86_64 -machine q35 -accel "${GUEST_ACCEL:-tcg,thread=single}" -cpu "${cpu:-Nehalem,-cx16}") console=ttyS0
	packages=(busybox-static) ;;
*) echo "guest.sh: there are machines of arm64 and amd64" >&2; exit 2 ;;
esac
cache=${OMPP_GUEST:-${XDG_CACHE_HOME:-$HOME/.cache}/ompp-attach-guest}/$arch
mkdir -p "$cache"

# mirror prints the address that apt's own configuration gives for Debian's main or security archive.
mirror() {
	apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$1|//p" | head -1
}

# A package database of its own: the machine's is not touched.
apt_root() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg main security s
	main=$(mirror Debian)
	security=$(mirror Debian-Security)
	if [ -z "$main" ]; then
		echo "guest.sh: apt knows no mirror of Debian: set one up in /etc/apt, then run apt-get update" >&2
		exit 1
	fi
	mkdir -p "$cache"/apt/{lists/partial,cache/archives/partial,empty} "$cache"/debs
	: >"$cache"/apt/status
	for s in bookworm $suite; do echo "deb [arch=$arch signed-by=$key] $main $s main"; done | sort -u >"$cache"/apt/sources.list
	for s in bookworm ${suite%-backports}; do
		[ -z "$security" ] || echo "deb [arch=$arch signed-by=$key] $security $s-security main"
	done | sort -u >>"$cache"/apt/sources.list
	cat >"$cache"/apt/conf <<-EOF
		Dir::State "$cache/apt"; Dir::State::status "$cache/apt/status"; Dir::Cache "$cache/apt/cache";
		Dir::Etc::sourcelist "$cache/apt/sources.list"; Dir::Etc::sourceparts "$cache/apt/empty";
		Dir::Etc::preferencesparts "$cache/apt/empty";
		APT::Architecture "$arch"; APT::Architectures {"$arch";}; Acquire::Languages "none"; APT::Sandbox::User "root";
	EOF
	export APT_CONFIG=$cache/apt/conf
}

# download gets the guest's packages of Debian 12 into debs, and the kernel into Image. The
# kernel's own package is a dependency of a package that names no version.
download() {
	apt_root
	apt-get update -qq
	local meta=linux-image-cloud-$arch version image boot=$cache/boot
	version=$(apt-cache madison "$meta" | awk -v s="$suite" '$6 ~ "^"s"(-security)?/" {print $3; exit}')
	image=$(apt-cache show "$meta=$version" | sed -n 's/^Depends:.*\(linux-image-[^ ,]*\).*/\1/p' | head -1)
	cd "$cache"/debs
	apt-get download -qq "$image" "${packages[@]/%//bookworm}"
	rm -rf "$boot" && mkdir "$boot"
	dpkg --fsys-tarfile "$image"_*.deb | tar -xC "$boot" --strip-components=2 --wildcards './boot/vmlinuz-*'
	mv "$boot"/vmlinuz-* "$cache"/Image-"$kernel"
}

# base makes the part of the file system that all guests of the architecture share.
base() {
	local root=$cache/root lib=lib/aarch64-linux-gnu p
	rm -rf "$root" "$cache"/unpacked
	for p in "${packages[@]}"; do
		for d in "$cache"/debs/"$p"_*.deb; do dpkg -x "$d" "$cache"/unpacked; done
	done
	mkdir -p "$root"/{bin,proc,sys,dev,tmp,root}
	cp "$cache"/unpacked/bin/busybox "$root"/bin/
	ln -s busybox "$root"/bin/sh
	if [ "$arch" = arm64 ]; then
		mkdir -p "$root"/$lib
		cp -L "$cache"/unpacked/lib/ld-linux-aarch64.so.1 "$root"/lib/
		cp -L "$cache"/unpacked/$lib/{libc.so.6,libm.so.6,libgcc_s.so.1} "$cache"/unpacked/usr/$lib/libgomp.so.1 "$root"/$lib/
	fi
	cat >"$root"/init <<-'EOF'
		#!/bin/sh
		/bin/busybox --install -s /bin
		mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
		mount -t tracefs tracefs /sys/kernel/tracing; mount -t bpf bpf /sys/fs/bpf; mount -t tmpfs tmp /tmp
		ip link set lo up
		echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
		export HOME=/root; cd /tmp
		sh /run.sh; echo "GUEST-RC=$?"
		poweroff -f
	EOF
	chmod +x "$root"/init
	(cd "$root" && find . | cpio -o -Hnewc --quiet | gzip -1) >"$cache"/base.cpio.gz
}

exec 9>"$cache"/lock
flock 9 # guests may be started at the same time
[ -f "$cache/Image-$kernel" ] || (download)
[ -f "$cache/base.cpio.gz" ] || base
flock -u 9

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/files/bin
for f in "$@"; do
	cp "$f" "$work"/files/bin/
	[ "$arch" = amd64 ] || continue
	# Libraries have the names here that they have there.
	{ env -u LD_LIBRARY_PATH ldd "$f" 2>/dev/null || true; } | sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | while read -r l; do
		mkdir -p "$work/files${l%/*}" && cp -L "$l" "$work/files$l"
	done
done
printf '%s\n' "$script" >"$work"/files/run.sh
(cd "$work"/files && find . | cpio -o -Hnewc --quiet | gzip -1) >"$work"/own.cpio.gz
cat "$cache"/base.cpio.gz "$work"/own.cpio.gz >"$work"/initrd # the kernel takes archives in a row
# A guest may take 4 minutes on an idle machine, and other tests run beside it. Only a guest that
# hangs takes longer than this.
limit=${GUEST_TIMEOUT:-1500}
timeout "$limit" "${qemu[@]}" -smp 2 -m 1G \
	-nographic -nic none -no-reboot -kernel "$cache/Image-$kernel" -initrd "$work"/initrd \
	-append "console=$console panic=-1 quiet" </dev/null | tr -d '\r' | tee "$work"/log || true
rc=$(sed -n 's/^GUEST-RC=\([0-9]*\).*/\1/p' "$work"/log)
[ -n "$rc" ] || echo "guest.sh: the guest crashed, or did not end within $limit s" >&2
exit "${rc:-1}" # QEMU itself always ends with 0
