package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Events are read so many at a time, of so many bytes: about what one answer shows.
const (
	readMost  = 1000
	readBytes = 1 << 20
)

// Read calls f with each event after that number, in order, up to the newest there is. It asks for
// them page by page: a consumer takes longer to make than most readers read.
func (l *Log) Read(ctx context.Context, after int64, f func(seq int64, data []byte) error) error {
	newest := l.last.Load()
	if after >= newest {
		return nil
	}
	e, err := l.engine()
	if err != nil {
		return err
	}
	inbox := e.conn.NewInbox()
	pages, err := e.conn.SubscribeSync(inbox)
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	defer pages.Unsubscribe() // the connection is closed: nothing more comes
	for after < newest {
		ask, err := json.Marshal(map[string]int64{"seq": max(after+1, 1), "batch": readMost, "max_bytes": readBytes})
		if err != nil {
			return err
		}
		if err := e.conn.PublishRequest(jetstream.DefaultAPIPrefix+"DIRECT.GET."+stream, inbox, ask); err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		last, err := page(ctx, pages, newest, f)
		if err != nil || last == 0 {
			return err
		}
		after = last
	}
	return nil
}

// page calls f with the events of one answer and returns the number of the last; 0: there was none.
func page(ctx context.Context, pages *nats.Subscription, newest int64, f func(seq int64, data []byte) error) (last int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, appendWait)
	defer cancel()
	for {
		msg, err := pages.NextMsgWithContext(ctx)
		if err != nil {
			return last, fmt.Errorf("read the log: %w", errors.Join(context.Cause(ctx), err))
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
		case "204", "404": // the end of the page, or of the log
			return last, nil
		default:
			return last, fmt.Errorf("read the log: %s %s", status, msg.Header.Get("Description"))
		}
		seq, err := strconv.ParseInt(msg.Header.Get(jetstream.SequenceHeader), 10, 64)
		if err != nil {
			return last, fmt.Errorf("read the log: %w", err)
		}
		if seq > newest {
			return newest, nil // it came meanwhile, and the rest of the page goes with the subscription
		}
		if err := f(seq, msg.Data); err != nil {
			return seq, err
		}
		last = seq
	}
}
