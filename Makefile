# The two commands to know: `make demo` and `make test`.
GO ?= go
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 30s
# What users get: no C library, no symbols. The race detector needs a C compiler; without one it is left out, and said.
BUILD = CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w'
RACE := $(shell command -v gcc >/dev/null && echo -race)

.PHONY: build install agents demo check test fuzz bench prove
build:
	$(BUILD) -o bin/ ./cmd/relay-pty
install:
	CGO_ENABLED=0 $(GO) install -trimpath -ldflags='-s -w' ./cmd/relay-pty
agents:
	bash .ci/agents
demo: build
	@bash .ci/agents || echo 'demo: going on without the real Claude Code'
	@$(GO) run ./cmd/internal/demo bin/relay-pty
check:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'check: run gofmt -w .'; exit 1; }
	$(GO) vet ./... && GOOS=darwin $(GO) vet ./pty/... ./protocol/... ./cmd/relay-pty/...
	$(STATICCHECK) ./...
	@test -n "$(RACE)" || echo 'NOT RUN: race detector: no gcc'
	$(GO) test $(RACE) -parallel 6 -skip '^TestReal' ./...
test: check
	bash .ci/e2e
	$(MAKE) fuzz
fuzz:
	FUZZTIME=$(FUZZTIME) bash .ci/fuzz
bench:
	$(GO) test -run=NONE -bench=. -benchmem ./pty/... ./parser/... ./protocol/...
prove:
	bash .ci/prove
