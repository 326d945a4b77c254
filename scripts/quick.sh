#!/bin/sh
# The loop one works in, under two minutes: layout, vet, house rules, short unit
# tests, and, as root, one end-to-end run per runtime. It says what took how long.
set -eu
cd "$(dirname "$0")/.."

. scripts/step.sh
export GOFLAGS="${GOFLAGS:-} -pgo=off" # as scripts/lint.sh

layout() {
	unformatted=$(gofmt -l $(git ls-files -co --exclude-standard '*.go'))
	[ -z "$unformatted" ] || { echo "quick: not gofmt's layout:" $unformatted >&2; return 1; }
}

# The packages that differ from the last commit, and e2e, which may use them; nothing if none
# differ. Scripts are no package. lint.sh vets all packages.
differing() {
	changed=$({
		git diff --name-only --diff-filter=d HEAD -- '*.go'
		git ls-files -o --exclude-standard -- '*.go'
	} | grep -v -e testdata/ -e '^scripts/' | xargs -rn1 dirname | sort -u | sed 's|^|./|')
	# shellcheck disable=SC2086
	[ -z "$changed" ] || printf '%s\n' $changed ./e2e | sort -u
}

step "quick: layout" layout
packages=$(differing)
# shellcheck disable=SC2086
step "quick: vet" go vet ${packages:-./...}
# Vet has seen the packages that differ. Tests make much garbage: collecting less often saves a
# fifth of their time.
step "quick: unit tests" env GOGC=400 go test -vet=off -short $(go list ./... | grep -v /e2e$)
if [ "$(id -u)" = 0 ]; then
	step "quick: one run per runtime" go test -vet=off -short -count=1 ./e2e -run '^TestSmoke$'
else
	echo "quick: one run per runtime: SKIPPED, placing probes needs root"
fi
