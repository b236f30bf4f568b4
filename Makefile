# The two commands, and a few more. CMake does the work; this file only knows the order.
#
#   make demo     install what is missing, build, prove the bundled sector, verify, show memory
#   make test     install what is missing, build, run all tests but the slow ones
#   make slow     what takes longer: large shapes, large witnesses, whole keys
#   make bench    speeds as ratios against a peer where one is given (PEER=libblst.so)
#   make fuzz     each parser's fuzz target for FUZZ_SECONDS (60)
#   make format   clang-format over the sources;  make lint checks it, the arrows, the constants
#   make install  PREFIX=/usr/local
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
PRESET ?= release
# ccache if it is there, nothing if not
export CUZK_LAUNCHER := $(shell command -v ccache 2>/dev/null)

.PHONY: all build demo test slow bench fuzz format lint install deps clean

all: build

deps:
	@tools/install-deps.sh

build: deps
	@cmake --preset $(PRESET) >build-$(PRESET).log 2>&1 || { cat build-$(PRESET).log; exit 1; }
	@rm -f build-$(PRESET).log
	@cmake --build build/$(PRESET) -j$(JOBS)

demo: deps
	@cmake --preset $(PRESET) >build-$(PRESET).log 2>&1 || { cat build-$(PRESET).log; exit 1; }
	@rm -f build-$(PRESET).log
	@cmake --build build/$(PRESET) -j$(JOBS) --target cuzk rssmon
	@tools/demo.sh build/$(PRESET)

test: deps
	@tools/test.sh $(JOBS)

slow: build
	@tools/run-tests.sh slow build/$(PRESET)

bench: build
	@tools/bench.sh build/$(PRESET) $(PEER)

fuzz: deps
	@tools/fuzz.sh $(FUZZ_SECONDS)

format:
	@git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

lint: deps
	@tools/lint.sh

install: build
	@cmake --install build/$(PRESET) --prefix $(PREFIX)

clean:
	@rm -rf build
