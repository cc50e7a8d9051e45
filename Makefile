# Every target makes what it needs: the first run creates the environment in $(VENV).

VENV ?= .venv
WORKERS ?= auto
BIN := $(VENV)/bin
DEMO := build/demo
FIXTURES := build/fixtures
GOLDEN := conformance/ascend_conformance/fixtures/golden.yaml
TORCH_NPU := torch_npu==2.14.0
FIND_PYTHON := for p in python3.11 python3 python3.12 python3.13 python3.14 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done
PYTHON ?= $(shell $(FIND_PYTHON))

# Compiled modules are kept wherever the targets run: each command that tests start loads them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test exhaustive campaign selftest ledger fixtures golden lint format docs bench \
	realism clean

help: ## List the targets.
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

demo: $(VENV)/.installed ## Simulate two NPUs, check their profiles, print the report.
	rm -rf $(DEMO)
	$(BIN)/ascend-ref simulate dense-8 --ranks 2 -o $(DEMO)
	$(BIN)/ascend-ref check $(DEMO)

test: $(VENV)/.installed-test $(VENV)/.torch-npu ## Run the tests; WORKERS=1 for one process.
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

exhaustive: $(VENV)/.installed-test $(VENV)/.torch-npu ## Run more of the cases that the tests leave out.
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "exhaustive and not campaign"

campaign: $(VENV)/.installed-test ## Put faults into spec, rules and files; name what nobody notices. Hours.
	PYTHONPATH=tests:tests/spec $(BIN)/python tests/spec/spec_changes.py
	$(BIN)/python tests/campaign/run_defects.py
	$(BIN)/python tests/conform/run_zoo.py
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m campaign

selftest: $(VENV)/.installed ## Break every rule at every place; some minutes.
	$(BIN)/ascend-ref rules --self-test

ledger: $(VENV)/.installed ## Write down how much rules are held to, which must not shrink.
	$(BIN)/python -c "from ascend_conformance.ledger import counts_document, ledger; \
	print(counts_document(ledger()), end='')" > tests/conformance/ledger.yaml

fixtures: $(VENV)/.installed ## Build all fixtures, verify and check them; half an hour.
	$(BIN)/ascend-ref fixtures build -o $(FIXTURES) --force
	$(BIN)/ascend-ref fixtures verify $(FIXTURES)

golden: $(VENV)/.installed ## Write the golden hashes of the fixtures as they are built now.
	$(BIN)/ascend-ref fixtures build -o $(FIXTURES) --force --write-golden $(GOLDEN)

lint: $(VENV)/.installed-dev ## Formatting, lint, types, direction of imports.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	MYPYPATH=benchmarks:tests/ge $(BIN)/mypy benchmarks
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## Format the code and sort its imports.
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs ## Build the site into site/.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.installed ## Measure the codecs, the checker and the simulator.
	$(BIN)/python benchmarks/db.py
	$(BIN)/python benchmarks/simulate.py
	$(BIN)/python benchmarks/bin.py
	$(BIN)/python benchmarks/text.py
	$(BIN)/python benchmarks/raw.py
	$(BIN)/python benchmarks/schema.py
	$(BIN)/python benchmarks/report_page.py
	$(BIN)/python benchmarks/difference.py

realism: $(VENV)/.installed ## Compare simulated profiles and costs of kernels with real ones in ../shared.
	$(BIN)/python benchmarks/realism.py
	$(BIN)/python benchmarks/costs.py

clean: ## Remove everything that the targets make.
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		.import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-%: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

# An exporter that tests try, without installing it. Where it cannot be had they are skipped; the next
# make tries again.
$(VENV)/.torch-npu: $(VENV)/.created
	-$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		--python-version 3.11 --implementation cp --abi cp311 --platform manylinux_2_28_x86_64 \
		--dest $(VENV)/wheels $(TORCH_NPU) && touch $@
