# Shared by the demos; run from the top of the checkout.

say() { printf '\n\033[1m%s\033[0m\n' "== $*"; }
[ -t 1 ] || say() { printf '\n%s\n' "== $*"; }

if [ "$(id -u)" != 0 ]; then
	echo "demo: placing probes needs root: sudo make $(basename "$0" .sh)" >&2
	exit 1
fi
