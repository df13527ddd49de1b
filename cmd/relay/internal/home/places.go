package home

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"relay-pty/protocol/own"
	"relay-pty/protocol/registry"
)

// Because says why wrappers and the router are looked for where they are.
func (h Home) Because() string {
	switch run := os.Getenv("XDG_RUNTIME_DIR"); {
	case run == "":
		return "XDG_RUNTIME_DIR is not set"
	case filepath.Dir(filepath.Dir(h.Agents)) != filepath.Clean(run):
		return "XDG_RUNTIME_DIR is " + run + ", which is no directory"
	}
	return "by XDG_RUNTIME_DIR"
}

// Stray is an agent that runs and is listed where a Home does not look: its wrapper was started
// with another XDG_RUNTIME_DIR, or without.
type Stray struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

func (s Stray) String() string {
	return fmt.Sprintf("%s runs and is listed in %s, where nobody looks from here: "+
		"give both the same XDG_RUNTIME_DIR", s.Name, s.Dir)
}

// Strays are those agents in the two usual places.
func (h Home) Strays() []Stray {
	uid := strconv.Itoa(os.Geteuid())
	return h.strays("/tmp/relay-"+uid+"/agents", "/run/user/"+uid+"/relay/agents")
}

func (h Home) strays(dirs ...string) (list []Stray) {
	for _, dir := range dirs {
		if dir == h.Agents || own.Private(filepath.Dir(dir)) != nil || own.Private(dir) != nil {
			continue // there is none, or it is somebody else's
		}
		records, _ := registry.List(dir) // else nothing is told of it
		for _, r := range records {
			list = append(list, Stray{r.Name, dir})
		}
	}
	return list
}
