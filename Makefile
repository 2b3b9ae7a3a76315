# eps: `make demo` and `make test` do everything, from nothing, on Debian 12.
.PHONY: demo test bench build setup format format-check clean

PRESET ?= release

demo: build
	build/eps verify

test: build
	ctest --preset $(PRESET) --parallel 2

bench: build
	build/$(PRESET)/bench/pivot_bench

build: setup
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

setup:
	scripts/setup.sh

FORMATTED = $(shell git ls-files '*.h' '*.cc')
format:
	clang-format -i $(FORMATTED)
format-check:
	clang-format --dry-run --Werror $(FORMATTED)

clean:
	rm -rf build
