package fleet

import (
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol/registry"
)

// unlisted reports whether nothing of that name is listed. A wrapper that ends in good order takes
// its listing back before its socket goes; one that is killed leaves it.
func (f *Fleet) unlisted(name string) bool {
	r, _, err := f.Places.Find(name)
	return err == nil && r == registry.Record{}
}

// retired reports whether a wrapper that ended while no router ran took its listing back. The end
// of the machine, too, takes listings away.
func (f *Fleet) retired(a router.Agent) bool {
	up, err := uptime()
	return err == nil && f.unlisted(a.Name) && time.Since(time.UnixMilli(a.Started)) < up
}
