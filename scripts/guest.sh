#!/bin/bash
# Runs programs in an emulated arm64 machine that has a performance monitoring
# unit (QEMU's PMUv3), which virtual machines rarely show:
#
#	scripts/guest.sh [-k 6.1|6.12] [-c CPU] SCRIPT FILE...
#
# SCRIPT (lines of sh) runs there as root, the FILEs lie in /bin. The exit status is the
# script's. Kernel and libraries are Debian's; downloads are kept in
# $OMPP_GUEST (default ~/.cache/ompp-attach-guest).
set -euo pipefail

kernel=6.1 cpu=cortex-a57
while getopts k:c: o; do
	case $o in
	k) kernel=$OPTARG ;;
	c) cpu=$OPTARG ;; # "cortex-a57,pmu=off": a machine without counters
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
script=$1
shift
case $kernel in
6.1) suite=bookworm ;;
6.12) suite=bookworm-backports ;;
*) echo "guest.sh: there are kernels 6.1 and 6.12" >&2; exit 2 ;;
esac
cache=${OMPP_GUEST:-${XDG_CACHE_HOME:-$HOME/.cache}/ompp-attach-guest}
mkdir -p "$cache"

# A package database of its own: the machine's is not touched.
apt_root() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg mirror security s
	mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | grep -v security | head -1)
	security=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | grep security | head -1)
	mirror=${mirror:-http://deb.debian.org/debian}
	mkdir -p "$cache"/apt/{lists/partial,cache/archives/partial,empty} "$cache"/debs
	: >"$cache"/apt/status
	for s in "${mirror%/} bookworm" "${security:-http://deb.debian.org/debian-security} bookworm-security" "${mirror%/} bookworm-backports"; do
		echo "deb [arch=arm64 signed-by=$key] $s main"
	done >"$cache"/apt/sources.list
	cat >"$cache"/apt/conf <<-EOF
		Dir::State "$cache/apt"; Dir::State::status "$cache/apt/status"; Dir::Cache "$cache/apt/cache";
		Dir::Etc::sourcelist "$cache/apt/sources.list"; Dir::Etc::sourceparts "$cache/apt/empty";
		Dir::Etc::preferencesparts "$cache/apt/empty";
		APT::Architecture "arm64"; APT::Architectures {"arm64";}; Acquire::Languages "none"; APT::Sandbox::User "root";
	EOF
	export APT_CONFIG=$cache/apt/conf
}

# The kernel's own package is a dependency of a package that names no version.
fetch() {
	apt_root
	apt-get update -qq
	local meta=linux-image-cloud-arm64 version image
	version=$(apt-cache madison $meta | awk -v s="$suite" '$5 ~ "^"s"(-security)?/" || $6 ~ "^"s"(-security)?/" {print $3; exit}')
	image=$(apt-cache show "$meta=$version" | sed -n 's/^Depends:.*\(linux-image-[^ ,]*\).*/\1/p' | head -1)
	cd "$cache"/debs
	apt-get download -qq "$image" busybox-static libc6 libgomp1 libgcc-s1
	rm -rf "$cache"/boot && mkdir "$cache"/boot
	dpkg --fsys-tarfile "$image"_*.deb | tar -xC "$cache"/boot --strip-components=2 --wildcards './boot/vmlinuz-*'
	mv "$cache"/boot/vmlinuz-* "$cache"/Image-"$kernel"
}

base() {
	local root=$cache/root lib=lib/aarch64-linux-gnu d
	rm -rf "$root" "$cache"/unpacked
	for d in "$cache"/debs/{busybox-static,libc6,libgomp1,libgcc-s1}_*.deb; do dpkg -x "$d" "$cache"/unpacked; done
	mkdir -p "$root"/{bin,proc,sys,dev,tmp,root,$lib}
	cp "$cache"/unpacked/bin/busybox "$root"/bin/
	ln -s busybox "$root"/bin/sh
	cp -L "$cache"/unpacked/lib/ld-linux-aarch64.so.1 "$root"/lib/
	cp -L "$cache"/unpacked/$lib/{libc.so.6,libm.so.6,libgcc_s.so.1} "$cache"/unpacked/usr/$lib/libgomp.so.1 "$root"/$lib/
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
[ -f "$cache/Image-$kernel" ] || (fetch)
[ -f "$cache/base.cpio.gz" ] || base
flock -u 9

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/files/bin
for f in "$@"; do cp "$f" "$work"/files/bin/; done
printf '%s\n' "$script" >"$work"/files/run.sh
(cd "$work"/files && find . | cpio -o -Hnewc --quiet | gzip -1) >"$work"/own.cpio.gz
cat "$cache"/base.cpio.gz "$work"/own.cpio.gz >"$work"/initrd # the kernel takes archives in a row
# -icount: without a fixed rate of instructions QEMU does not count them.
timeout "${GUEST_TIMEOUT:-300}" qemu-system-aarch64 -machine virt -cpu "$cpu" -icount shift=0 -smp 2 -m 1G \
	-nographic -nic none -no-reboot -kernel "$cache/Image-$kernel" -initrd "$work"/initrd \
	-append 'console=ttyAMA0 panic=-1 quiet' </dev/null | tr -d '\r' | tee "$work"/log
rc=$(sed -n 's/^GUEST-RC=\([0-9]*\).*/\1/p' "$work"/log)
exit "${rc:-1}" # QEMU itself always ends with 0
