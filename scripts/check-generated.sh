#!/bin/sh
# Fails if the committed BPF objects and their Go files are not what their
# sources give.
set -eu
cd "$(dirname "$0")/.."

if ! command -v "$BPF_CLANG" >/dev/null; then
	echo "check-generated: SKIPPED, no $BPF_CLANG here: the BPF objects were not compared" >&2
	exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp -r go.mod go.sum bpf event "$tmp"
rm -f "$tmp"/bpf/*_bpfel.go "$tmp"/bpf/*_bpfel.o
(cd "$tmp" && go generate ./bpf)
status=0
for f in "$tmp"/bpf/*_bpfel.go "$tmp"/bpf/*_bpfel.o bpf/*_bpfel.go bpf/*_bpfel.o; do
	name=bpf/$(basename "$f")
	if ! cmp -s "$tmp/$name" "$name"; then
		echo "check-generated: $name is not what its sources give: run make generate" >&2
		status=1
	fi
done
[ $status = 0 ] && echo "check-generated: the BPF objects are what their sources give"
exit $status
