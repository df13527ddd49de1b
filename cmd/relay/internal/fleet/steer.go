package fleet

import (
	"context"
	"errors"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// steer tells a wrapper whether its agent is paused, where it was told otherwise, or nothing yet
// and may remember another router's word. It returns what the wrapper was told last, and whether it
// may be given messages now. One that is too old for it keeps typing.
func (f *Fleet) steer(ctx context.Context, r registry.Record, told router.Pause) (router.Pause, bool) {
	is, rest := f.Hub.Paused(r.Name)
	if is == told {
		return told, true
	}
	var ask protocol.Request = &protocol.Resume{}
	if is.On {
		ask = &protocol.Pause{ForMS: rest.Milliseconds()}
		if is.Until != 0 && rest.Milliseconds() == 0 {
			ask = &protocol.Resume{} // it is over now
		}
	}
	client, err := sock.Dial(ctx, r.Socket)
	if err != nil {
		return told, false
	}
	defer client.Close()
	_, err = client.Ask(ctx, ask)
	var refused *protocol.Error
	if err != nil && !(errors.As(err, &refused) && refused.Code == protocol.UnknownType) {
		return told, false
	}
	return is, true
}
