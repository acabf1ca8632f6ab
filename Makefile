# Each target does its own set-up: `make demo` on a fresh machine is enough.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
RUN := .venv/.run
DEV := .venv/.dev
JS := node_modules/.dev
DOCS := .venv/.docs
DIST := .venv/.dist
# Many tests wait for a server, a browser or a cluster: half as many workers again as there are cores.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count() * 3 // 2)')

.PHONY: demo check test nightly test-gpu browser lint docs dist man bench mutants clean

demo: $(RUN)
	@$(BIN)/voilattice value figure1 --features X1,X2
	@echo
	@$(BIN)/voilattice show asia
	@echo
	@$(BIN)/voilattice policy asia --policy optimal --text
	@echo
	@$(BIN)/voilattice policy heart --policy optimal
	@echo
	@$(BIN)/voilattice compare heart
	@$(BIN)/voilattice compare heart --emc 0:2000:100 --plot heart.svg > /dev/null
	@echo "What each policy saves on heart, from low to high stakes, is drawn in heart.svg."

# The fast part of `make test`, in less than a minute.
check: $(DEV)
	@$(BIN)/voilattice warm
	$(BIN)/pytest -n auto -m "not slow"

# Workers take tests from each other when they have no more: the long ones are in few files.
# The kernels are compiled first: otherwise each worker would compile the same ones.
test: $(DEV) browser
	@$(BIN)/voilattice warm
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

# Hours: every random world and as many new ones, and what is marked nightly. The seed is printed.
nightly: SEED ?= $(shell date +%s)
nightly: $(DEV) browser
	@$(BIN)/voilattice warm
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --nightly --world-seed $(SEED)

# On a machine with an NVIDIA GPU: the engine "cuda" there, on a thousand random problems and more.
test-gpu: $(DEV)
	$(PIP) -r requirements-gpu.txt
	$(BIN)/python -c "from voilattice.devices import find_device; find_device()"
	$(BIN)/pytest tests/optimal/exact/test_cuda_engine.py tests/optimal/exact/test_plain.py tests/optimal/exact/test_plain_solution.py

# The page is tested in a real browser, the how-to on proxies with nginx: Debian's,
# installed where they are missing and allowed to be; nginx, which starts a server of its own, for CI alone.
browser:
	@missing=; \
	command -v chromium-headless-shell > /dev/null || command -v chromium > /dev/null \
	  || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null \
	  || missing="chromium-headless-shell"; \
	[ -z "$$CI" ] || [ -x /usr/sbin/nginx ] || missing="$$missing nginx"; \
	[ -z "$$missing" ] \
	  || { echo "installing $$missing (apt)" >&2; \
	       $$([ "$$(id -u)" = 0 ] || echo sudo -n) sh -c "apt-get -qq update && \
	         DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing" \
	         > /dev/null; } \
	  || echo "no $$missing, and no right to install it: the tests of the server need it" >&2

lint: $(DEV) $(JS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/node node_modules/.bin/biome check --error-on-warnings src tests
	$(BIN)/node node_modules/.bin/tsc

# The site, in build/site: a warning is an error, and every link inside it leads somewhere.
docs: $(DOCS)
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --keep-going --quiet docs build/site
	$(BIN)/python tools/site_links.py build/site

# The sdist and the wheel, in dist/, each tried in a bare environment; PYTHONS: other interpreters.
dist: $(DIST)
	$(BIN)/python tools/dist.py --python $(PYTHONS)

# The manual page, in build/man: `man -l build/man/voilattice.1`.
man: $(RUN)
	@$(BIN)/python tools/man.py build/man

bench: $(DEV)
	$(BIN)/python benchmarks/lattice.py
	$(BIN)/python benchmarks/valuation.py
	$(BIN)/python benchmarks/policies.py
	$(BIN)/python benchmarks/optimal.py
	$(BIN)/python benchmarks/rounds.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/learning.py
	$(BIN)/python benchmarks/estimator.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/serving.py
	$(BIN)/python benchmarks/load.py
	$(BIN)/python benchmarks/cold.py
	$(BIN)/python benchmarks/under_load.py
	$(BIN)/python benchmarks/gpu.py

# Long; an interrupted run goes on. Prints the mutants that survive and are not listed in mutants.toml.
mutants: $(DEV) requirements-mutants.txt
	$(PIP) -r requirements-mutants.txt
	$(BIN)/python tools/mutants.py --write docs/mutants.md

clean:
	rm -rf .venv node_modules build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# A stamp is written last, so an interrupted set-up starts again.
$(RUN): requirements.txt pyproject.toml
	@echo "setting up .venv (once; some minutes on a slow line)" >&2
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "voilattice needs Python 3.11 or newer; try make PYTHON=python3.11")'
	@$(PYTHON) -m venv .venv
	@$(PIP) -r requirements.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/voilattice warm
	@touch $@

$(DEV): $(RUN) requirements-dev.txt
	@$(PIP) -r requirements-dev.txt
	@touch $@

# The two tools for the page's JavaScript bring nothing along but a binary of the same version: package.json pins
# all, and there is no lock file with the address of a registry. They run no script when they are installed.
$(JS): package.json | $(DEV)
	@$(BIN)/npm install --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error > /dev/null
	@touch $@

$(DOCS): $(DEV) requirements-docs.txt
	@$(PIP) -r requirements-docs.txt
	@touch $@

$(DIST): $(DEV) requirements-dist.txt
	@$(PIP) -r requirements-dist.txt
	@touch $@
