# The commands of the README. Each installs or makes what it needs, or says what is missing; each can be
# run twice. The work itself is in scripts/ and docker/images/build.

HOST := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')
BIN := target/$(HOST)/debug

.NOTPARALLEL:
.PHONY: help demo test bench build images doctor clean-up

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: doctor images build ## run examples/ with 3 workers and 2 verifiers, and show what landed
	@$(BIN)/cantus demo --examples examples --report target/demo-report.html

test: ## all checks and tests, exactly as CI runs them
	@scripts/test

bench: doctor images ## the dispatch benchmark, as JSON
	@cargo run --release -p cantus-bench -- dispatch --json

build: ## the programs: cantus, cantus-worker, cantus-verifier
	@cargo build --workspace --bins

images: ## the role image and the bus's image
	@docker/images/build

doctor: ## what this machine lacks, and how to get it
	@scripts/doctor --install

clean-up: ## remove what tests and demos left with Docker, and the images
	@scripts/sweep test- demo-
	@docker/images/build --remove
