# `make` prints what there is. Nothing but cargo (1.95 or newer) and python3 need be present.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
TOOLS := $(CURDIR)/.tools
export TEST_TOOLS ?= $(TOOLS)/venv/bin
# What is drawn in tests is drawn the same everywhere; another number looks elsewhere.
export PROPTEST_RNG_SEED ?= 1

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

demo: ## crawl an evolving web of our own for a minute, and compare with the truth
	@echo "Building Evercrawl with little optimisation: about 3 minutes on two cores the first time, then seconds."
	@cargo run --profile quick --locked --package evercrawl-cli -- demo --data demo-data

build: ## the binary, at target/release/evercrawl
	cargo build --release --locked --package evercrawl-cli

install: ## the binary, into cargo's bin directory
	cargo install --locked --path crates/cli

test: tools format-check lint unit docs ## everything that must hold: format, lints, licences, tests, docs

tools: ## what tests need beside cargo, once, pinned, into .tools
	@tools/install

format-check:
	cargo fmt --all --check

lint: ## clippy, warnings denied
	cargo clippy --workspace --all-targets --locked -- -D warnings

deny: ## what is known against our dependencies, by cargo-deny, which is built first
	tools/deny

unit: tools ## all tests
	cargo test --workspace --locked

docs: ## rustdoc, warnings denied
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

check-large: ## the large end-to-end checks, some minutes
	cargo test --release --package evercrawl-cli --locked -- --ignored --nocapture
	cargo test --release --package evercrawl-render --locked -- --ignored --nocapture

soak: ## power cuts and failing disks in simulated crawls, by as many seeds as SEEDS says (100,000), from FROM on
	SEEDS=$${SEEDS:-100000} cargo test --release --package evercrawl-engine --test engine --locked -- power_cuts:: --nocapture

fuzz: ## every parser on bytes that a fuzzer makes up, a minute each (FUZZ_SECONDS)
	tools/fuzz

bench: ## what a page costs beside the least it could cost, and its parts: five minutes
	bench/summary

bench-peers: ## the same pages by wget, wget2, httrack, Scrapy, Crawlee and spider, which it installs
	bench/peers

bench-scale: ## what as many known URLs as SIZES says cost (10 and 100 million), with curves
	bench/many_urls --sizes $${SIZES:-1000000 10000000 100000000} --results bench/results --draw bench/results
	bench/growth --draw bench/results

.PHONY: bench bench-peers bench-scale soak fuzz help demo build install test tools format-check lint deny unit docs check-large
