# Everything that is done to this project. `make` alone builds the tool.
GO ?= go
GOTEST ?= $(GO) test
# The compiler that made the committed BPF objects: another one makes others.
BPF_CLANG ?= clang-14
BPF_ASM ?= /usr/include/$(shell gcc -dumpmachine)
PREFIX ?= /usr/local
# Packages whose tests run under the race detector: they share data between goroutines, or are so
# quick that it costs nothing.
RACE = ./attribution/... ./profile ./analysis ./report/... ./event ./bpf ./collect/... ./job ./cmd/ompp-attach
# Tests among them that calculate for seconds on one goroutine. The race detector makes minutes of
# that, so they run without it.
LONG = TestSnapshotsOfSenselessStreams|TestAnyEventMayBeLost|TestManyEventsMayBeLost|TestMemoryIsFlat|TestRecordIsSmall|TestStatedIntervalsHold
# Tests whose limits are stricter without the race detector: they run with it and without.
STRICTER = TestManyRanks

export BPF_CLANG BPF_ASM

.PHONY: fuzz test-fuzz build generate check-generated lint quick test deps test-unit test-race test-e2e test-pmu demo demo-mpi demo-scale bench pgo install clean

# Without libc: the tool runs on older systems too, and glibc takes variables away
# from programs that have capabilities (setcap).
build:
	CGO_ENABLED=0 $(GO) build -o bin/ompp-attach ./cmd/ompp-attach

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
	$(GOTEST) $$($(GO) list ./... | grep -vxF "$$($(GO) list ./e2e $(RACE))")
	$(GOTEST) -run '^($(LONG)|$(STRICTER))$$' ./attribution ./job

# Every decoder and parser, each for FUZZTIME.
FUZZTIME ?= 5s
fuzz:
	scripts/fuzz.sh $(FUZZTIME)

# The loops over damaged files, mapped libraries and profiles, for under a minute.
test-fuzz:
	scripts/fuzz.sh 4s '^FuzzDecode$$' '^FuzzRender$$' '^FuzzDamaged$$' '^FuzzLibrary$$' '^FuzzFormula$$'

test-race:
	$(GOTEST) -race -skip '^($(LONG))$$' -timeout 30m $(RACE)

# First the tests that measure times, one after the other; then those that count, at once.
test-e2e:
	$(GOTEST) -count=1 -parallel 4 -timeout 45m ./e2e/...

# In emulated machines: arm64 with a performance monitoring unit, x86-64 with older kernels; part of
# test-e2e.
test-pmu:
	scripts/deps.sh pmu
	$(GO) test -count=1 -run TestGuest -v ./e2e

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
