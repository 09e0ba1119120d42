# Two commands do everything: `make book` and `make test`. They need python3 (3.11 to 3.13), pip and
# make; all that they install goes into .tools and .venv (and Chromium, for the tests, where it is missing).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PRESET ?= laptop
PYTHON ?= python3
PORT ?= 8000
export UV_PYTHON_DOWNLOADS := never

UV := .tools/bin/uv
PY := .venv/bin/python
READY := .venv/.synced
PYTEST := $(PY) -m pytest
# Each run locks the folder it writes, and a killed one leaves nothing half done.
SNAKEMAKE := $(PY) -m snakemake --cores all --quiet host reason --nolock --rerun-incomplete --keep-going
CHAPTERS = $(wildcard chapters/[0-9][0-9]_*.ipynb)

one = $(or $(CHAPTER),$(error say which: CHAPTER=01))

.PHONY: help setup chromium book chapter refresh record release serve bench lint
.PHONY: test test-library test-chapters test-outputs test-book test-robust

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16
	@echo; echo "PRESET=ci|laptop|record|gpu|paper with book and chapter, CHAPTER=01 with chapter and record."

setup: $(READY) chromium  ## install what book and tests need

$(UV):
	@echo "installing uv into .tools"
	$(PYTHON) -m pip install --quiet --target .tools "uv==0.13.9"

$(READY): pyproject.toml uv.lock | $(UV)
	@echo "installing the locked packages into .venv"
	$(UV) sync --locked --quiet --python $(PYTHON) --extra book --extra dev
	@touch $@

chromium:
	@for name in chromium chromium-browser google-chrome; do ! command -v $$name >/dev/null || exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Chromium"; apt-get -qq update && apt-get -qq install -y chromium >/dev/null; \
	else \
	    echo "Chromium is needed to test the pages and is not on PATH: install chromium" >&2; exit 1; \
	fi

book: $(READY)  ## run every chapter at PRESET (laptop) and build the pages
	$(SNAKEMAKE) book --config preset=$(PRESET)
	@echo "book: $(CURDIR)/_build/html/index.html"

chapter: $(READY)  ## run the one chapter CHAPTER at PRESET
	$(SNAKEMAKE) chapters --config preset=$(PRESET) chapter=$(one)
	@echo "results: $(CURDIR)/results/$(PRESET)"

refresh: $(READY)  ## commit-ready outputs and ledger from the last laptop runs
	$(PY) -m lazyrich refresh

record: $(READY)  ## run CHAPTER at preset record, up to an hour, and store its ledger
	$(SNAKEMAKE) chapters --config preset=record chapter=$(one)
	$(PY) -m lazyrich record $(one)

release: setup  ## archive of pages, notebooks, ledgers and one PDF in dist/, from the last make book
	$(PY) tools/release.py

serve:  ## serve the built book on localhost, at PORT (8000)
	$(PYTHON) -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

bench: $(READY)  ## time theory against its peers
	$(PY) -m benchmarks

lint: $(READY)  ## check the style of the code
	.venv/bin/ruff check lib tests tools benchmarks

test: setup test-library test-book test-chapters test-outputs  ## run every test
	@echo "All tests passed."
	@echo "tested book: $(CURDIR)/_build/test/html/index.html, runs: $(CURDIR)/results/ci"

# One BLAS thread a worker: two workers of two threads each, on two cores, wait for one another.
test-library: setup  ## unit and property tests
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(PYTEST) -n 2 --dist loadfile tests \
	    --ignore=tests/book --ignore=tests/chapters --ignore=tests/robust

# Forced, so that every chapter really runs; beside the reader's own book, which stays.
test-book: setup  ## every chapter at preset ci, the book built strictly from it, its pages in Chromium
	$(SNAKEMAKE) book --forceall --config preset=ci html=_build/test/html
	LAZYRICH_HTML=_build/test/html $(PYTEST) tests/book

test-chapters: setup  ## what the chapters' files must hold, and the runs at preset ci
	$(PYTEST) tests/chapters

# The committed outputs hold the laptop preset: nbval runs them again and compares text, then the
# ledgers that these runs left are compared with the committed one.
test-outputs: setup  ## committed outputs and ledger against a new run, and a book built from them
	rm -rf _build/outputs
	@for notebook in $(CHAPTERS); do \
	    stem=$$(basename $$notebook .ipynb); echo "nbval: $$stem"; \
	    JAX_PLATFORMS=cpu LAZYRICH_RESULTS=$(CURDIR)/_build/outputs/$$stem \
	        $(PYTEST) --nbval --nbval-current-env --nbval-cell-timeout 300 $$notebook; \
	done
	LAZYRICH_OUTPUTS=$(CURDIR)/_build/outputs $(PYTEST) tests/chapters/agreement.py
	$(PY:python=jupyter-book) build . --path-output _build/committed -W -n --keep-going --all -q
	LAZYRICH_HTML=_build/committed/_build/html $(PYTEST) tests/book -k chapters

# What this user or machine cannot do of it is left out, in one line that says so.
test-robust: $(READY)  ## other processors, kills, full disks and a cluster
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! command -v slurmctld >/dev/null; then \
	    echo "installing SLURM"; apt-get -qq update && apt-get -qq install -y slurm-wlm munge >/dev/null || true; \
	fi
	$(PYTEST) tests/robust
