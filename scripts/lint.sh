#!/bin/sh
# The linters: layout, vet on both architectures, staticcheck, and the house's own rules
# (import directions, file lengths: internal/house).
set -eu
cd "$(dirname "$0")/.."

# What linters and tests need compiled is compiled once: not again by the tool's profile of hot
# functions (cmd/ompp-attach/default.pgo).
export GOFLAGS="${GOFLAGS:-} -pgo=off"

unformatted=$(gofmt -l $(git ls-files -co --exclude-standard '*.go'))
if [ -n "$unformatted" ]; then
	echo "lint: not gofmt's layout:" $unformatted >&2
	exit 1
fi
go vet ./...

# Most packages have the same files for arm64. Vet need not see these twice: they are compiled.
files() { GOARCH=$1 CGO_ENABLED=0 go list -f '{{.ImportPath}} {{.GoFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}' ./...; }
amd64=$(files amd64)
others=$(files arm64 | grep -vxF "$amd64" | cut -d' ' -f1)
GOARCH=arm64 CGO_ENABLED=0 go build ./...
# shellcheck disable=SC2086
[ -z "$others" ] || GOARCH=arm64 CGO_ENABLED=0 go vet $others

go tool staticcheck ./...
go test ./internal/house
echo "lint: clean"
