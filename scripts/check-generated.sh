#!/bin/sh
# Fails if the committed BPF objects, or the page's bundle, are not what their sources give.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

# compare COPY FILE... fails for files that differ from those made in COPY.
compare() {
	copy=$1
	shift
	for f in "$@"; do
		if ! cmp -s "$copy/$f" "$f"; then
			echo "check-generated: $f is not what its sources give: run make generate" >&2
			status=1
		fi
	done
}

# go generate reads these; the Makefile has the same defaults.
export BPF_CLANG="${BPF_CLANG:-clang-14}" BPF_ASM="${BPF_ASM:-/usr/include/$(gcc -dumpmachine)}"
if command -v "$BPF_CLANG" >/dev/null; then
	mkdir "$tmp/bpf-copy"
	cp -r go.mod go.sum bpf event "$tmp/bpf-copy"
	mkdir "$tmp/bpf-copy/bench"
	cp -r bench/baseline "$tmp/bpf-copy/bench"
	for package in bpf bench/baseline; do
		rm -f "$tmp/bpf-copy/$package"/*_bpfel*
		(cd "$tmp/bpf-copy" && go generate "./$package")
		compare "$tmp/bpf-copy" $(cd "$tmp/bpf-copy" && ls $package/*_bpfel*) $package/*_bpfel*
	done
else
	echo "check-generated: SKIPPED, no $BPF_CLANG here: the BPF objects were not compared" >&2
fi

# The packages come from npm's registry, or from its cache.
mkdir -p "$tmp/page/dist"
cp -r page/web "$tmp/page/web"
rm -rf "$tmp/page/web/node_modules"
if ! command -v npm >/dev/null; then
	echo "check-generated: SKIPPED, no npm here: the page's bundle was not compared" >&2
elif ! npm --prefix "$tmp/page/web" ci --ignore-scripts --no-audit --no-fund --prefer-offline >"$tmp/npm" 2>&1; then
	tail -5 "$tmp/npm" >&2
	echo "check-generated: SKIPPED, npm cannot get the packages: the page's bundle was not compared" >&2
else
	npm --prefix "$tmp/page/web" run --silent check || status=1
	npm --prefix "$tmp/page/web" run --silent build || status=1
	compare "$tmp" page/dist/page.js page/dist/LICENSES.txt
fi
[ $status = 0 ] && echo "check-generated: what was compared is what its sources give"
exit $status
