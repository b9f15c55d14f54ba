# The two commands: `make run` and `make test`. Everything else is for those who work on Ganger.
.DEFAULT_GOAL := help
SHELL := /bin/bash
CARGO ?= cargo

.PHONY: help run test quick setup fmt ui lint unit python schema e2e screenshots sim instructions soak bench bench-accept bench-peers bench-tools fuzz deny generate up down logs clean

help: ## What can be made
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# What `ganger_build_info` tells; whoever builds in another way may set it too.
run bench: export GANGER_COMMIT ?= $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)

run: ## Build Ganger and start it: server, local worker, SQLite, on http://127.0.0.1:8080
	@scripts/setup build
	@scripts/ui build-if-possible
	$(CARGO) run --locked --release -p ganger -- dev

# Everything is compiled before the tests start. They mostly wait; what only computes runs beside them.
test: setup fmt ui bench-tools ## Everything a change must pass
	$(CARGO) test --locked --workspace --no-run
	@scripts/beside "lint sim instructions" unit python schema e2e
	@echo "all tests passed"

quick: fmt ## What most mistakes are found by, in minutes after a first build: lints, the rules, the style checks
	$(CARGO) clippy --locked --workspace -- -D warnings
	$(CARGO) test --locked --quiet -p ganger-core

setup: ## Install what building and testing needs
	@scripts/setup

fmt:
	$(CARGO) fmt --all --check

# Before anything is compiled: the binary packs what it finds, and is compiled once.
ui: ## The web page: types, lints, tests, and the build that the next `cargo build` packs into the binary
	@scripts/ui check
	@scripts/ui build

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

unit:
	$(CARGO) test --locked --workspace

# After the unit tests, which build the binary that it tests against.
python: ## The Python SDK: lints, types, tests against the real binary, the wheel
	@scripts/python

# After the unit tests as well.
schema: ## The served OpenAPI document against what is served
	@scripts/schema

# After the unit tests, which build the binary that it tests.
e2e: ## The web page in a real browser, against the real binary
	@scripts/ui e2e

screenshots: ## Pictures of every page for docs/images, dark and light
	@scripts/ui screenshots

# A build of its own: it switches on the seeded bugs, which nothing that ships may contain.
sim: ## The deterministic simulator and its seeded bugs
	$(CARGO) test --locked -p ganger-core --features sabotage --test sim

# With a profile of its own: instructions are counted of one and the same code.
instructions: ## The coordinator takes no more instructions per job than accepted (bench/instructions.txt), but for 10 %
	@bench/instructions check

bench-accept: ## Make what the coordinator takes now the accepted figure
	@bench/instructions accept

soak: setup ## The long form of every campaign: kills, rows, hours (its figures are in docs/soak.md)
	$(CARGO) test --locked --release -p ganger --test soak -- --ignored --nocapture --test-threads=1
	$(CARGO) test --locked --release -p ganger-store --test postgres -- --ignored a_million
	@scripts/ui build
	$(CARGO) build --locked --release -p ganger
	@scripts/ui soak

# The private servers put their data below TMPDIR, the embedded store below the working directory. Reports are in bench/results.
bench: setup ## The benchmark: every workload embedded, on PostgreSQL, and with Redis (goes on where it was stopped)
	$(CARGO) build --locked --profile dist -p ganger
	$(CARGO) build --locked --profile dist -p ganger-store --example with_servers
	$(CARGO) run --locked --profile dist -p ganger-worker --example array_sum
	@bench/workloads

bench-peers: setup ## Ganger beside its peers, three runs in turn, into docs/benchmarks.md (bench/README.md)
	bench/peers/setup
	bench/run
	bench/report

bench-tools: ## The runner and the report of the benchmark, without the peers
	python3 -m unittest discover --start-directory bench/tests

fuzz: setup ## Rubbish for everything that reads texts of strangers, a minute each
	@scripts/fuzz

deny: ## Advisories, licences, sources and bans of every dependency
	@command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	$(CARGO) deny check advisories bans licenses sources

generate: ## Make the generated wire types again
	$(CARGO) run --locked -p ganger-proto --example generate
	@scripts/python generate

COMPOSE = docker compose --file deploy/compose.yaml --env-file deploy/.env

# How many workers: make up SCALE=5
SCALE ?= 2
up: ## Start everything in containers: PostgreSQL, Redis, two servers, workers, Prometheus, Grafana
	@scripts/secrets deploy/.env
	$(COMPOSE) up --build --detach --scale worker=$(SCALE)
	@echo "Ganger is on http://127.0.0.1:8080, Grafana on http://127.0.0.1:3000 (admin; the password is in deploy/.env)"

down: ## Stop the containers; the data stays
	$(COMPOSE) down

logs: ## Follow what the containers say
	$(COMPOSE) logs --follow --tail 100

clean:
	$(CARGO) clean
