# `make demo` runs the main job, `make test` passes the tests. Each installs what it lacks.

export CGO_ENABLED := 0
export GOFLAGS := -buildvcs=false

TOOL := go tool -modfile=tools/go.mod
LINT := go tool -modfile=tools/lint/go.mod golangci-lint
BIN  := bin/countersign

.PHONY: chaos faults guards queries slow-feed slow-races streams help demo build test race check generate generated format vet lint bench schema contract postgres chromium versions

help: ## Print this.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/' | expand -t12

demo: postgres build ## Start Harbor Mill on a database of its own and serve it.
	@exec $(BIN) demo $(ARGS)

build: ## Build bin/countersign.
	go build -o $(BIN) .

test: postgres chromium ## Run every test, on a PostgreSQL of their own and in Chromium.
	go test -timeout 15m ./...
	@$(MAKE) --no-print-directory faults

faults: postgres ## A short form of make chaos, which make test runs too.
	go test -timeout 10m -tags failpoints ./internal/failpoint ./internal/chaos

# FAULTS and SEED choose how many fail at random, and which: SEED=7 repeats the choices of a run, not its timing.
chaos: postgres ## Have each step fail in each way, then at random: over 2 000 faults. Prints faults, decisions, violations.
	COUNTERSIGN_FAULTS=$(or $(FAULTS),1500) COUNTERSIGN_SEED=$(SEED) go test -count=1 -timeout 60m -v -tags failpoints ./internal/chaos

race: postgres chromium ## The same tests with the race detector (needs a C compiler).
	@command -v $${CC:-gcc} >/dev/null || { echo "race: no C compiler: installing gcc"; $(SUDO) apt-get install -y --no-install-recommends gcc libc6-dev; }
	CGO_ENABLED=1 go test -race -timeout 30m $$(go list ./... | grep -v -e /internal/e2e -e /internal/bench -e /internal/guards -e /graph/generated)

check: versions generated contract format vet lint queries test race ## What CI runs.

generate: ## Generate sqlc/, graph/generated, graph/model and views.
	rm -f sqlc/*.sql.go
	go generate .

generated: generate ## Fail where what is generated is not what is committed.
	@git diff --exit-code -- sqlc graph views || { echo "generated code differs: commit what make generate wrote"; exit 1; }
	@test -z "$$(git ls-files --others --exclude-standard -- sqlc graph views)" || { git ls-files --others --exclude-standard -- sqlc graph views; echo "generated code is not committed"; exit 1; }

versions: ## The generators are of the versions that the program is built with.
	@for m in github.com/99designs/gqlgen github.com/a-h/templ; do \
		a=$$(go list -m -f '{{.Version}}' $$m); b=$$(go list -modfile=tools/go.mod -m -f '{{.Version}}' $$m); \
		[ "$$a" = "$$b" ] || { echo "$$m is $$a in go.mod and $$b in tools/go.mod"; exit 1; }; done

contract: ## Where the shared contract lies beside the repository, our copy is equal to it.
	@if [ -f ../shared/contract.graphqls ]; then diff -u ../shared/contract.graphqls graph/testdata/contract.graphqls; fi

format: ## Fail where gofmt or templ fmt would write something else.
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "$$out"; echo "not formatted: gofmt -w"; exit 1; }

vet:
	go vet ./...
	go vet -tags failpoints ./internal/failpoint ./internal/chaos

lint:
	$(LINT) run --allow-parallel-runners
	$(LINT) run --allow-parallel-runners --build-tags failpoints ./internal/failpoint/... ./internal/chaos/...

queries: postgres ## Prepare every query on a migrated database, and hold it against the rules of sqlc.yaml.
	go test -count=1 -tags sqlcvet -run TestEveryQueryIsVetted ./internal/postgres

slow-feed: postgres ## Hold the feed's order under 100 000 events, killed sequencers and cut listeners; replay them.
	COUNTERSIGN_FEED_EVENTS=100000 go test -count=1 -timeout 60m -v -run 'TestEveryReader|TestALongHistory' ./internal/feed ./internal/server

slow-races: postgres ## Every verb at one proposal at once, from 20 clients on two servers, 1 000 times; confirm against a turn that is cut short, 1 000 times.
	COUNTERSIGN_ROUNDS=1000 go test -count=1 -timeout 60m -v -run TestEveryVerb ./internal/server
	COUNTERSIGN_ROUNDS=1000 go test -count=1 -timeout 60m -v -tags failpoints -run TestConfirmAgainst ./internal/chaos

guards: postgres ## Take each guard of docs/guards.md out of a copy, and see its test turn red.
	COUNTERSIGN_GUARDS=$(or $(GUARDS),all) go test -count=1 -timeout 120m -v -run TestAGuard ./internal/guards

.PHONY: slow-usage
slow-usage: postgres ## Sum budgets over ten million rows of usage, by the index alone.
	COUNTERSIGN_USAGE_ROWS=10000000 go test -count=1 -timeout 60m -v -run TestABudgetIsSummedOnceOverTheIndexAlone ./internal/server

streams: postgres ## Follow the feed with the npm clients graphql-ws and graphql-sse (needs Node).
	cd tools/streams && npm ci --no-audit --no-fund
	COUNTERSIGN_STREAMS=1 go test -count=1 -v -run TestTheNpmClients ./internal/server

# BENCH chooses: propose, feed, feed/beside, feed/delivery, feed/replay. graphql-ws on Node is a peer where
# `make streams` or npm ci in tools/streams has put it.
bench: postgres ## Rates of propose and confirm over HTTP, and of the feed, beside bare SQL and graphql-ws.
	go test -run '^$$' -bench '(?i)$(or $(BENCH),.)' -benchtime 1x -timeout 30m ./internal/bench

schema: postgres ## Write migrations/schema.sql anew from the migrations.
	UPDATE_SCHEMA=1 go test -count=1 ./internal/postgres -run TestTheSchemaIsAsDumped

SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

postgres: ## Install PostgreSQL from the system's packages where it is missing.
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
		command -v apt-get >/dev/null || { echo "PostgreSQL 15 or newer is missing: install its server (initdb, postgres) and try again"; exit 1; }; \
		echo "PostgreSQL is missing: installing it from the system's packages"; \
		$(SUDO) apt-get update -q && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql; }

chromium: ## Install Chromium from the system's packages where it is missing.
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
		command -v apt-get >/dev/null || { echo "Chromium is missing: install it and try again"; exit 1; }; \
		echo "Chromium is missing: installing it from the system's packages"; \
		$(SUDO) apt-get update -q && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; }
