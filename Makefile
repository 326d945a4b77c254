# Everything that is done to this project. `make` alone builds the tool.
GO ?= go
GOTEST ?= $(GO) test
# The compiler that made the committed BPF objects: another one makes others.
BPF_CLANG ?= clang-14
BPF_ASM ?= /usr/include/$(shell gcc -dumpmachine)
PREFIX ?= /usr/local
# Packages that start goroutines: their tests run under the race detector, and not without it. It can
# find nothing in the others, whose tests it makes ten times as long. internal/house holds the list.
RACE = ./bench ./bpf ./calibration ./collect/... ./files ./job ./node ./probes/callgraph ./probes/inline ./probes/kmpc ./snapshots ./top ./voice ./cmd/ompp-attach ./cmd/ompp-attach/cli
# Of these, the tests that have several goroutines; all tests run without the race detector.
RACE_BRIEFLY = ./symbols ./timeline
BRIEFLY = ^Test(Memo|Targets|Modules|Ring|Age|Branch|DiskFull|FileCap)$$
# Tests whose limits are stricter without the race detector: they run with it and without.
STRICTER = TestManyRanks

# Everything is compiled without libc, as users have the tool: the builds of tools, tests and linters
# are the same then. The race detector needs cgo. Without the checkout's path in them (-trimpath),
# they serve all checkouts.
export CGO_ENABLED = 0
GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath
export BPF_CLANG BPF_ASM GOFLAGS

.PHONY: fuzz test-fuzz build generate check-generated lint quick test deps test-unit test-race test-e2e test-counts test-times test-guests test-pmu demo demo-mpi demo-scale bench pgo install clean

# Without libc (CGO_ENABLED=0): the tool runs on older systems too, and glibc takes variables away
# from programs that have capabilities (setcap).
build:
	$(GO) build -o bin/ompp-attach ./cmd/ompp-attach

generate:
	scripts/deps.sh generate
	$(GO) generate ./bpf ./bench/baseline ./page

check-generated:
	scripts/check-generated.sh

lint:
	scripts/lint.sh

# The loop one works in: under two minutes.
quick:
	scripts/quick.sh

# Everything. The end-to-end tests place probes and so need root.
test: deps build
	scripts/test.sh

deps:
	scripts/deps.sh generate test pmu

# What test-race leaves. Fuzz targets run on their seeds here; `make fuzz` searches on.
test-unit:
	$(GOTEST) -timeout 30m $$($(GO) list ./... | grep -vxF "$$($(GO) list ./e2e $(RACE))")
	$(GOTEST) -run '^($(STRICTER))$$' ./job

# Every decoder and parser, each for FUZZTIME.
FUZZTIME ?= 5s
fuzz:
	scripts/fuzz.sh $(FUZZTIME)

# The loops over damaged files, mapped libraries and profiles, for under a minute.
test-fuzz:
	scripts/fuzz.sh 4s '^FuzzDecode$$' '^FuzzRender$$' '^FuzzDamaged$$' '^FuzzLibrary$$' '^FuzzFormula$$'

test-race:
	CGO_ENABLED=1 $(GOTEST) -race -timeout 30m $(RACE)
	CGO_ENABLED=1 $(GOTEST) -race -run '$(BRIEFLY)' $(RACE_BRIEFLY)

# Tests that measure times run one after the other, on a machine that does nothing else. Tests that
# count (atOnce) run beside others.
E2E = $(GOTEST) -count=1 -timeout 45m
COUNTING = $$(awk '/^func Test/ {name = $$2; sub(/\(.*/, "", name)} /^\tatOnce\(t\)$$/ && name !~ /^TestGuest/ {print name}' e2e/*_test.go | paste -sd '|')
test-e2e: test-counts test-times

test-counts:
	$(E2E) -parallel 4 -run "^($(COUNTING))$$" ./e2e

test-times:
	$(E2E) -skip "^(TestGuest.*|$(COUNTING))$$" ./e2e

# In emulated machines: arm64 with a performance monitoring unit, x86-64 with older kernels. A machine
# takes one core; their times are their own.
test-guests:
	$(E2E) -parallel 1 -run '^TestGuest' ./e2e

test-pmu:
	scripts/deps.sh pmu
	$(MAKE) test-guests GOTEST='$(GOTEST) -v'

demo: build
	scripts/demo.sh

demo-mpi: build
	scripts/demo-mpi.sh

demo-scale: build
	scripts/demo-scale.sh

bench: build
	scripts/deps.sh bench
	$(GO) run ./bench -o docs/benchmarks.md

# After changes of the engine or the decoder; as root.
pgo:
	scripts/pgo.sh

install: build
	install -D -m 755 bin/ompp-attach $(DESTDIR)$(PREFIX)/bin/ompp-attach
	install -D -m 644 include/ompp.h $(DESTDIR)$(PREFIX)/include/ompp.h
	install -D -m 644 include/ompp_fortran.c $(DESTDIR)$(PREFIX)/share/ompp-attach/ompp_fortran.c
	install -D -m 644 include/ompp.h $(DESTDIR)$(PREFIX)/share/ompp-attach/ompp.h
	mkdir -p $(DESTDIR)$(PREFIX)/share/man/man1
	bin/ompp-attach man $(DESTDIR)$(PREFIX)/share/man/man1

clean:
	rm -rf bin ompp-demo
