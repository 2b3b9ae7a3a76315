# eps: `make demo` and `make test` do everything, from nothing, on Debian 12.
.PHONY: demo test verify python benchmarks build setup format format-check clean

PRESET ?= release

# Only the program: the tests take longer to build than it does.
demo: setup
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --target eps_program
	build/eps demo --out build/demo.png

verify: build
	build/eps verify

test: build
	ctest --preset $(PRESET) --parallel 2

# The Python package in the environment build/python, and its tests; PYTHON=path/to/python takes one with a
# torch of its own, and its environment.
python:
	scripts/setup_python.sh $(PYTHON)
	$(or $(PYTHON),build/python/bin/python) -m unittest discover -s python/tests -t python/tests

# The target runs pivot_bench only, the pivots beside a copy; the head of each file in benchmarks/ says what it
# times, and docs/results/speed.md has the commands of the published timings.
benchmarks: build
	build/$(PRESET)/benchmarks/pivot_bench

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
