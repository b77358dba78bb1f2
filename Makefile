# Every target sets up what it needs in .venv, from nothing but Python 3.11 or later:
#
#     make test                        the default python3
#     PYTHON=python3.12 make test      another one; .venv is rebuilt for it
#     make test WORKERS=0 ARGS="tests/test_records.py -k report"

PYTHON  ?= python3
VENV    ?= .venv
# Processes for the tests; 0 runs them in one. Three on two processors: some tests wait for a browser or another process.
WORKERS ?= 3
# More arguments for pytest, the demo or the benchmarks.
ARGS    ?=

BIN     := $(VENV)/bin
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
# Installs into a virtual environment: $(call install,FOLDER,WHAT). uv takes a third of pip's processor time; pip does it where
# uv cannot. The kernels are compiled in .venv below, by the Numba that will load them, and not in an environment of pip's own.
# Python compiles what is imported, when it is: pip would compile everything, which takes longer than all else it does.
# A comma that separates no arguments.
COMMA    := ,
PIP      = $(1)/bin/python -m pip install -qq --no-compile --disable-pip-version-check
install  = export HATCH_BUILD_NO_HOOKS=true; \
  $(1)/bin/uv pip install -q --system-certs --python $(1)/bin/python $(2) 2>/dev/null || \
  { $(call PIP,$(1)) --upgrade 'pip>=25.1' && $(call PIP,$(1)) $(2); }
# pip may have been told of another index, which uv would not know.
fetch_uv = [ -n "$$PIP_INDEX_URL" ] || $(1)/bin/python -m pip config get global.index-url >/dev/null 2>&1 || \
  $(call PIP,$(1)) uv || true

# Stamp files: each stands for a finished step. Change pyproject.toml, and the installs run again.
READY := $(VENV)/.ready-$(VERSION)
COMPILER := $(VENV)/.installed-compiler
DEMO  := $(VENV)/.installed-demo
DEV   := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench
TORTURE := $(VENV)/.installed-torture
# The documentation has an environment of its own: scanpy holds pandas below the version that the tests use.
DOCS_VENV := $(VENV)/docs
DOCS  := $(DOCS_VENV)/.installed
# So have the tools of a release, and the wheel that they try.
RELEASE_VENV := $(VENV)/release
RELEASE := $(RELEASE_VENV)/.installed
TRIED := $(VENV)/tried
COMPILED := $(VENV)/.compiled-kernels
COMPILED_DEMO := $(VENV)/.compiled-demo
KERNELS := $(wildcard src/lowdim/kernels/*.* src/lowdim/kernels/*/*.py)
BUILD := PYTHONPATH=src $(BIN)/python -m lowdim.kernels.building
AGAIN := $(MAKE) --no-print-directory

.DEFAULT_GOAL := help
.PHONY: help demo test coverage lint types options kernels browser torture bench docs dist clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# pip waits for disks and networks and has one processor: the kernels are compiled meanwhile, those of the demo alone.
demo: $(COMPILER) ## embed a few data sets and write pictures
	@$(AGAIN) $(COMPILED_DEMO) & kernels=$$!; $(AGAIN) $(DEMO); done=$$?; wait $$kernels && exit $$done
	@$(BIN)/lowdim demo $(ARGS)

# Bytecode is kept, whatever is usual here: hundreds of processes would compile all that they import again.
export PYTHONDONTWRITEBYTECODE =
# One BLAS thread for each process: more of them than cores wait for each other.
test coverage: export OPENBLAS_NUM_THREADS = 1
test coverage: export OMP_NUM_THREADS = 1
test: ## lint, then run the tests
	@# The browser comes from the network, and the kernels are compiled, while the rest is installed and checked.
	@$(AGAIN) browser & browser=$$!; $(AGAIN) $(COMPILER) || exit; \
	$(AGAIN) $(COMPILED) & kernels=$$!; $(AGAIN) lint; checks=$$?; wait $$browser; wait $$kernels && exit $$checks
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) $(ARGS)

coverage: $(DEV) $(COMPILED) browser ## run the tests and show the lines that none of them reaches: half as long again
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --cov --cov-report=term $(ARGS)

lint: $(DEV) ## check rules, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# For the Python that is there: the types of newer libraries cannot be read as the oldest one would.
	$(BIN)/ty check --python $(VENV) --python-version $(VERSION)

types: $(DEV) ## check types strictly, by mypy, which takes a minute
	$(BIN)/mypy

# The interactive pages are tested in Chromium. It is installed where that needs no question; without it those tests skip.
browser: ## install Chromium for the tests, where it is missing and may be installed
	@for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do \
	  if command -v $$name >/dev/null 2>&1; then exit 0; fi; done; \
	if ! command -v apt-get >/dev/null 2>&1; then \
	  echo "No Chromium here: the tests of the interactive pages will be skipped"; exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then become=; \
	elif sudo -n true >/dev/null 2>&1; then become="sudo -n"; \
	else echo "No Chromium here, and no right to install it: the tests of the interactive pages will be skipped"; exit 0; fi; \
	echo "Installing Chromium for the tests (once)"; \
	install="$$become env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium"; \
	$$install >/dev/null 2>&1 || { $$become apt-get update -qq >/dev/null 2>&1; $$install >/dev/null 2>&1; } || \
	  echo "Chromium could not be installed: the tests of the interactive pages will be skipped"

torture: $(TORTURE) ## try to break every promise: minutes to hours (ARGS=NAME for one harness)
	$(if $(ARGS),,$(BIN)/mypy)
	$(if $(ARGS),,LOWDIM_EXAMPLES=torture $(BIN)/python -m pytest -q -m "slow or hypothesis")
	$(BIN)/python -m torture $(ARGS)

options: $(DEV) ## write the table of options that the program reads, after a change of a parameter or its docstring
	$(BIN)/python -m lowdim.cli.options.describe

kernels: $(DEV) ## write the table of kernels that are compiled with the package, after a change of one that Python calls
	@# With nothing compiled before: what is loaded from a cache has its parts asked for one by one.
	@cache=$$(mktemp -d) && LOWDIM_COMPILED=0 NUMBA_CACHE_DIR=$$cache $(BIN)/python -m torture.signatures && rm -r $$cache

bench: $(BENCH) $(COMPILED) ## run the benchmarks
	@$(BIN)/python -m benchmarks $(ARGS)

# Warnings are errors. ARGS names another builder of Sphinx: `make docs ARGS=linkcheck` asks the network for every link out.
# Pages that are read once serve every builder.
docs: export OPENBLAS_NUM_THREADS = 1
docs: export OMP_NUM_THREADS = 1
docs: $(DOCS) $(COMPILED) ## build the documentation in docs/_build/html, running all its code (ARGS=linkcheck: links)
	@PYTHONPATH=src $(DOCS_VENV)/bin/python -m sphinx -q -W --keep-going -b $(or $(ARGS),html) \
	  -d docs/_build/doctrees docs docs/_build/$(or $(ARGS),html)
	@echo "Built docs/_build/$(or $(ARGS),html)"

# Without compiled kernels: one wheel for every machine, which compiles them at their first use.
dist: export HATCH_BUILD_NO_HOOKS = true
dist: $(RELEASE) ## build wheel and sdist in dist, check and try them, and list what they bring in lowdim.cdx.json
	@rm -rf dist
	$(RELEASE_VENV)/bin/python -m build --outdir dist .
	$(RELEASE_VENV)/bin/python -m twine check --strict dist/*
	$(RELEASE_VENV)/bin/check-wheel-contents dist
	@$(PYTHON) -m venv --clear $(TRIED)
	@$(TRIED)/bin/python -m pip install -qq --no-compile --disable-pip-version-check dist/*.whl
	@cd dist && $(abspath $(TRIED))/bin/lowdim --version && $(abspath $(TRIED))/bin/lowdim info
	@$(RELEASE_VENV)/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type library \
	  --output-reproducible --output-file lowdim.cdx.json $(TRIED)/bin/python
	@echo "Built dist and lowdim.cdx.json"

clean: ## remove .venv, caches and build products
	@if [ -f $(VENV)/pyvenv.cfg ]; then rm -rf $(VENV); fi
	rm -rf docs/_build docs/generated docs/gallery docs/reference/generated
	rm -rf build dist lowdim.cdx.json htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src -name compiled -path '*/kernels/*' -type d -prune -exec rm -rf {} + 2>/dev/null || true
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lowdim needs Python 3.11 or later; name one: PYTHON=python3.12 make $(MAKECMDGOALS)" >&2; exit 1; }
	@if [ -d $(VENV) ] && [ ! -f $(VENV)/pyvenv.cfg ]; then \
	  echo "$(VENV) is not a virtual environment: move it away, or set VENV to another folder" >&2; exit 1; fi
	@echo "Setting up $(VENV) with Python $(VERSION)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(call fetch_uv,$(VENV))
	@touch $@

# What compiles the kernels.
$(COMPILER): pyproject.toml $(READY)
	@$(call install,$(VENV),numba scipy)
	@touch $@

$(DEMO): pyproject.toml $(COMPILER)
	@echo "Installing lowdim"
	@$(call install,$(VENV),--editable '.[plot]')
	@touch $@

$(DEV): pyproject.toml $(COMPILER)
	@echo "Installing lowdim with every extra and the tools (a minute or two, once)"
	@$(call install,$(VENV),--editable '.[all]' --group dev)
	@touch $(DEMO) $@

$(BENCH): pyproject.toml $(COMPILER)
	@echo "Installing lowdim for the benchmarks"
	@$(call install,$(VENV),--editable '.[bench]')
	@touch $(DEMO) $@

$(COMPILED): $(KERNELS) | $(COMPILER)
	@echo "Compiling the kernels"
	@$(BUILD) || echo "Not all of them: the others are compiled at their first use"
	@touch $@ $(COMPILED_DEMO)

$(COMPILED_DEMO): $(KERNELS) | $(COMPILER)
	@echo "Compiling the kernels of the demo"
	@$(BUILD) demo || echo "Not all of them: the others are compiled at their first use"
	@touch $@

$(TORTURE): $(DEV)
	@$(call install,$(VENV),--group torture) || echo "atheris has no wheel here: only our own inputs will be fed"
	@touch $@

$(DOCS): pyproject.toml $(COMPILER)
	@echo "Installing what the documentation is built with (a minute or two, once)"
	@$(PYTHON) -m venv $(DOCS_VENV)
	@$(call fetch_uv,$(DOCS_VENV))
	@$(call install,$(DOCS_VENV),--editable '.[all$(COMMA)scanpy]' --group docs)
	@touch $@

$(RELEASE): pyproject.toml $(COMPILER)
	@echo "Installing the tools of a release"
	@$(PYTHON) -m venv $(RELEASE_VENV)
	@$(call fetch_uv,$(RELEASE_VENV))
	@$(call install,$(RELEASE_VENV),--group release)
	@touch $@
