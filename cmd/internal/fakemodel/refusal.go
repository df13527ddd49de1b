package fakemodel

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// refusal is how a vendor refuses a request: by the headers that it adds, and the body that it
// returns. It is by a limit that ends after so long if resets is not 0.
type refusal func(h http.Header, status int, says string, resets time.Duration) (body obj)

// words are what a vendor calls an HTTP status; the word for all others is that of 0.
type words map[int]string

func (w words) of(status int) string {
	if word, has := w[status]; has {
		return word
	}
	return w[0]
}

// anthropic is Anthropic's, of a key.
func anthropic(h http.Header, status int, says string, resets time.Duration) obj {
	if resets > 0 {
		add(h, "Retry-After", seconds(resets), "X-Should-Retry", "false",
			"Anthropic-Ratelimit-Requests-Limit", "50", "Anthropic-Ratelimit-Requests-Remaining", "0",
			"Anthropic-Ratelimit-Requests-Reset", time.Now().Add(resets).UTC().Format(time.RFC3339))
	}
	word := words{0: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
	return obj{"type": "error", "error": obj{"type": word.of(status), "message": says}}
}

// openAI is OpenAI's, of a key.
func openAI(h http.Header, status int, says string, resets time.Duration) obj {
	if resets > 0 {
		add(h, "Retry-After", seconds(resets), "X-Ratelimit-Limit-Requests", "50", "X-Ratelimit-Remaining-Requests", "0",
			"X-Ratelimit-Reset-Requests", seconds(resets)+"s")
	}
	word := words{0: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 429: "rate_limit_exceeded",
		500: "server_error", 529: "server_error"}.of(status)
	return obj{"error": obj{"message": says, "type": word, "param": nil, "code": word}}
}

// plan is OpenAI's, whose limits are those of a plan.
func plan(h http.Header, status int, says string, resets time.Duration) obj {
	if resets == 0 {
		return openAI(h, status, says, resets)
	}
	add(h, "X-Codex-Primary-Used-Percent", "100", "X-Codex-Primary-Window-Minutes", "300",
		"X-Codex-Primary-Reset-After-Seconds", seconds(resets))
	ends := time.Now().Add(resets).Unix()
	return obj{"error": obj{"message": says, "type": "usage_limit_reached", "plan_type": "plus", "resets_at": ends}}
}

// google is Google's. A limit is that of a day, with what it is of and when it ends.
func google(_ http.Header, status int, says string, resets time.Duration) obj {
	word := words{0: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 529: "UNAVAILABLE"}
	why := obj{"code": status, "message": says, "status": word.of(status)}
	if resets > 0 {
		violation := obj{"quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
			"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
		why["details"] = []obj{
			{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []obj{violation}},
			{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": seconds(resets) + "s"},
		}
	}
	return obj{"error": why}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// add sets headers, each a name and a value.
func add(h http.Header, pairs ...string) {
	for pair := range slices.Chunk(pairs, 2) {
		h.Set(pair[0], pair[1])
	}
}

// refuse refuses a request.
func (s *Server) refuse(w http.ResponseWriter, status int, says string, resets time.Duration) {
	whole(w, status, s.wire.refusal(w.Header(), status, says, resets))
}

// Fault is how a reply goes wrong on its way.
type Fault int

const (
	Whole  Fault = iota // it does not
	Reset               // the connection is reset behind the text; without a text before any answer
	Silent              // nothing more comes, and without a text nothing at all, until the client hangs up
)

// fail has what was said of a reply be all that comes.
func (f Fault) fail(ctx context.Context, w http.ResponseWriter) {
	if f == Silent {
		<-ctx.Done()
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client is gone
	}
	if tcp, is := conn.(*net.TCPConn); is {
		tcp.SetLinger(0) // so that the close is a reset
	}
	conn.Close() // whatever it says, the client is rid of us
}
