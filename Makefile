# `make demo` and `make test` do all the set-up on a fresh machine; done already, the set-up costs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BOUNDS := $(VENV)-bounds/bin
ENGINE := $(VENV)/engine
INSTALLED := $(VENV)/installed
# Python keeps what it has compiled, even where the environment (of a container, often) forbids it: else every process
# compiles PyTorch's sources anew, which takes seconds.
unexport PYTHONDONTWRITEBYTECODE

# One that was cut, or made where ensurepip is missing (Debian without python3-venv), has no pip: it is completed.
environment = $(1)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(1)

.PHONY: setup demo warm bytecode test slow lint docs bench release bounds clean

setup: $(INSTALLED)

# The engine alone is there soon, and compiles (`make --jobs 2 warm lint`) while the rest is fetched.
$(ENGINE): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11")'
	$(call environment,$(VENV))
	# The pip that Python brings (23.2 with 3.11) takes twice the CPU time of a later one for what follows.
	$(BIN)/python -m pip install --quiet --upgrade pip
	# Of most modules' bytecode nobody has need; what is imported is compiled then.
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable .
	touch $@

$(INSTALLED): $(ENGINE)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[all]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/liteshogi demo

# Not by the command, which compiles PUCT only after the rest is installed.
warm: $(ENGINE)
	$(BIN)/python -c 'from search.warmup import warm_up; warm_up(puct=True)'

# Every module is imported once: else each of the tests' processes, which begin together, compiles the same bytecode.
bytecode: $(INSTALLED)
	$(BIN)/python -m pytest -q --collect-only >$(VENV)/collected || { cat $(VENV)/collected; exit 1; }

test: $(INSTALLED) warm
	# A file's tests in one process: what its fixtures make is made once. Many wait for others, so three keep two cores busy.
	# Threads of PyTorch that wait for each other leave their cores to other tests.
	OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -q --numprocesses 3 --dist loadfile --no-loadscope-reorder

slow: $(INSTALLED)
	$(BIN)/python -m pytest -q -m slow --timeout 7200

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The pages in out/docs; a link that leads nowhere is an error.
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

# From the last commit, with this Python's numba and NumPy, on a CPU with AVX-512 VNNI: docs/guide/release.md.
release: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	$(BIN)/python -m release dist

# The oldest versions that pyproject.toml allows, in an environment of their own: does all still work with them?
bounds:
	$(call environment,$(VENV)-bounds)
	$(BOUNDS)/python -m pip install --quiet uv
	$(BOUNDS)/uv pip install --python $(BOUNDS)/python --resolution lowest-direct --editable '.[all]'
	$(BOUNDS)/python -m pytest -q

clean:
	rm -rf $(VENV) $(VENV)-bounds build dist out *.egg-info
