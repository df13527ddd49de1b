# The two commands to know: `make demo` and `make test`. `make install PREFIX=~/.local` needs no
# root, and `make uninstall PREFIX=~/.local` undoes it; `make prove PART=all` runs all parts of the
# proof, PART=list lists them.
GO ?= go
BIN = bin
PREFIX ?= /usr/local
PART ?= list
# Users get no C library, no symbols, and in the wrapper, whose file is its memory, inlining only
# where it is hot. TAGS=failpoint builds what tests break on purpose.
BUILD = CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/
HOT = runtime/... relay-pty/pty/... relay-pty/parser/ansi
LEAN = $(TAGS:%=-tags=%) -ldflags='-s -w -funcalign=8' -gcflags=all=-l $(HOT:%=-gcflags=%=)
RACE := $(shell command -v gcc >/dev/null && echo -race)
TESTRUN = @$(GO) run ./cmd/internal/testrun
UNITS = $(shell $(GO) list ./... | grep -v /e2e)
.PHONY: build wrapper install uninstall agents demo lint vuln unit check test fuzz bench prove
build: wrapper
	$(BUILD) -ldflags='-s -w' ./cmd/relay
wrapper:
	$(BUILD) $(LEAN) ./cmd/relay-pty ./cmd/relay-pty-check
install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BIN)/relay $(BIN)/relay-pty $(BIN)/relay-pty-check $(DESTDIR)$(PREFIX)/bin
	bash .ci/package/files $(BIN) $(PREFIX)/bin $(DESTDIR)$(PREFIX)
uninstall: # removes what install put there, and no directory
	cd $(DESTDIR)$(PREFIX)/bin && rm -f relay relay-pty relay-pty-check
	@test -x $(BIN)/relay || $(MAKE) --silent build
	@to=$$(mktemp -d) && bash .ci/package/files $(BIN) $(PREFIX)/bin $$to && \
		(cd $$to && find . -type f) | (cd $(DESTDIR)$(PREFIX) && xargs rm -f); rm -rf "$$to"
agents fuzz:
	bash .ci/$@
demo:
	@echo 'Building …' && $(MAKE) --silent build
	@test "$$RELAY_DEMO" = builtin || bash .ci/agents claude-code-2.1.329 codex || echo
	@$(BIN)/relay demo
lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'lint: run gofmt -w .'; exit 1; }
	$(GO) vet ./... && GOOS=darwin $(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
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
bench:
	$(GO) test -run=NONE -bench=. -benchmem ./pty/... ./parser/... ./protocol/...
prove:
	bash .ci/prove $(PART)
