#!/bin/sh
# The linters: layout, vet on both architectures, staticcheck, and the house's
# own rules (import directions, file lengths: internal/house).
set -eu
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l $(git ls-files -co --exclude-standard '*.go'))
if [ -n "$unformatted" ]; then
	echo "lint: not gofmt's layout:" $unformatted >&2
	exit 1
fi
go vet ./...
GOARCH=arm64 go vet ./...
go tool staticcheck ./...
go test ./internal/house
echo "lint: clean"
