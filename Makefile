# `make demo` and `make test` also set up a fresh machine. A finished set-up costs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BOUNDS := $(VENV)-bounds/bin
ENGINE := $(VENV)/engine
INSTALLED := $(VENV)/installed
# Keep Python's bytecode, even where the environment (often a container's) forbids it: otherwise every process compiles
# PyTorch's sources again, which takes seconds.
unexport PYTHONDONTWRITEBYTECODE

# Complete an environment without pip: it was interrupted, or made without ensurepip (Debian without python3-venv).
environment = $(1)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(1)

.PHONY: setup demo warm bytecode test slow lint docs bench release bounds clean

setup: $(INSTALLED)

# Install the engine first: it compiles (`make --jobs 2 warm lint`) while the rest is downloaded.
$(ENGINE): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11")'
	$(call environment,$(VENV))
	# Python 3.11 comes with pip 23.2, which takes twice the CPU time of later versions for the next commands.
	$(BIN)/python -m pip install --quiet --upgrade pip
	# Compile no bytecode here: most modules are never imported, and the others are compiled at their first import.
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable .
	touch $@

$(INSTALLED): $(ENGINE)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[all]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/liteshogi demo

# Call the function: `liteshogi warmup` compiles PUCT only when the rest is installed.
warm: $(ENGINE)
	$(BIN)/python -c 'from search.warmup import warm_up; warm_up(puct=True)'

# Import every module once: otherwise all test processes, which start together, compile the same bytecode.
bytecode: $(INSTALLED)
	$(BIN)/python -m pytest -q --collect-only >$(VENV)/collected || { cat $(VENV)/collected; exit 1; }

test: $(INSTALLED) warm
	# One process runs all tests of a file and makes its fixtures once. Many tests wait, so three processes keep two cores busy.
	# Threads of PyTorch that wait for each other leave their cores to other tests.
	OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -q --numprocesses 3 --dist loadfile --no-loadscope-reorder

slow: $(INSTALLED)
	$(BIN)/python -m pytest -q -m slow --timeout 7200

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Build the pages in out/docs; a broken link is an error.
docs: $(INSTALLED)
	$(BIN)/python -m sphinx --builder html --nitpicky --fail-on-warning --keep-going --quiet docs out/docs

bench: $(INSTALLED)
	$(BIN)/liteshogi perft --bench
	$(BIN)/liteshogi bench pipes
	$(BIN)/liteshogi bench factory
	$(BIN)/liteshogi bench evaluation
	$(BIN)/liteshogi bench training
	$(BIN)/liteshogi bench reading experiments/sample/*.hcpe3
	$(BIN)/liteshogi bench planes
	$(BIN)/liteshogi bench

# Build from the last commit, with this Python's numba and NumPy, on a CPU with AVX-512 VNNI: docs/guide/release.md.
release: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	$(BIN)/python -m release dist

# Test with the oldest versions that pyproject.toml allows, in an environment of their own.
bounds:
	$(call environment,$(VENV)-bounds)
	$(BOUNDS)/python -m pip install --quiet uv
	$(BOUNDS)/uv pip install --python $(BOUNDS)/python --resolution lowest-direct --editable '.[all]'
	$(BOUNDS)/python -m pytest -q

clean:
	rm -rf $(VENV) $(VENV)-bounds build dist out *.egg-info
