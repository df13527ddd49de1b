# The two commands to know: `make demo` and `make test`.
GO ?= go
BIN = bin
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 2s
# What `make prove` runs: parts, or `all`; `list` lists them.
PART ?= list
# Where `make install` puts things; `make install PREFIX=~/.local` needs no root.
PREFIX ?= /usr/local
# TAGS=failpoint builds what tests break on purpose.
# What users get: no C library, no symbols, and inlining only where it is hot, for the file of a wrapper is its memory. The race
# detector needs a C compiler; without one it is left out, and said.
HOT = runtime/... relay-pty/pty/... relay-pty/parser/ansi
LEAN = $(TAGS:%=-tags=%) -trimpath -ldflags='-s -w -funcalign=8' -gcflags=all=-l $(HOT:%=-gcflags=%=)
SMALL = -trimpath -ldflags='-s -w'
BUILD = CGO_ENABLED=0 $(GO) build $(LEAN)
RACE := $(shell command -v gcc >/dev/null && echo -race)

TESTRUN = @$(GO) run ./cmd/internal/testrun
UNITS = $(shell $(GO) list ./... | grep -v /e2e)

.PHONY: build wrapper install agents demo lint vuln unit check test fuzz bench prove
build: wrapper
	CGO_ENABLED=0 $(GO) build $(SMALL) -o $(BIN)/ ./cmd/relay
wrapper:
	$(BUILD) -o $(BIN)/ ./cmd/relay-pty ./cmd/relay-pty-check
install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BIN)/relay $(BIN)/relay-pty $(BIN)/relay-pty-check $(DESTDIR)$(PREFIX)/bin
	bash .ci/package/files $(BIN) $(PREFIX)/bin $(DESTDIR)$(PREFIX)
agents:
	bash .ci/agents
demo:
	@echo 'Building …'
	@$(MAKE) --silent build
	@test "$$RELAY_DEMO" = builtin || bash .ci/agents claude-code-2.1.329 codex || echo
	@$(BIN)/relay demo
lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'lint: run gofmt -w .'; exit 1; }
	$(GO) vet ./... && GOOS=darwin $(GO) vet ./...
	$(STATICCHECK) ./...
vuln:
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...
unit:
	@test -n "$(RACE)" || echo 'NOT RUN: race detector: no gcc'
	$(TESTRUN) unit '$(UNITS)' $(RACE) -timeout=5m -skip='^TestReal'
check: lint unit
	$(TESTRUN) e2e ./cmd/.../e2e -p=1 -parallel=8 -timeout=10m -skip='^TestReal'
test: lint unit
	@test "$$RELAY_E2E" = require || bash .ci/agents || true
	$(TESTRUN) e2e ./cmd/.../e2e -p=1 -parallel=8 -timeout=15m
	$(MAKE) fuzz
fuzz:
	FUZZTIME=$(FUZZTIME) FUZZSHORT=0 bash .ci/fuzz
bench:
	$(GO) test -run=NONE -bench=. -benchmem ./pty/... ./parser/... ./protocol/...
	@$(MAKE) --silent build && CGO_ENABLED=0 $(GO) build $(SMALL) -o $(BIN)/ ./cmd/relay-bench && $(BIN)/relay-bench $(BENCH)
prove:
	bash .ci/prove $(PART)
