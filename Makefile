# The README's commands are `make demo` and `make test`.
GO ?= go
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@2026.1
FUZZTIME ?= 5s

.PHONY: build install demo agents check test prove fuzz bench golden

build:
	$(GO) build -trimpath -ldflags='-s -w' -o bin/ ./cmd/relay-pty
install:
	$(GO) install -trimpath -ldflags='-s -w' ./cmd/relay-pty
agents:
	bash .ci/agents
demo: build
	-@bash .ci/agents
	@$(GO) run ./cmd/internal/demo
check:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'gofmt: run gofmt -w .'; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(GO) test -race ./...
