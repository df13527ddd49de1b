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
	run := os.Getenv("XDG_RUNTIME_DIR")
	info, err := os.Stat(run)
	switch {
	case h.Moved != 0:
		return "where the router runs, pid " + strconv.Itoa(h.Moved)
	case run == "":
		return "XDG_RUNTIME_DIR is not set"
	case filepath.Dir(filepath.Dir(h.Agents)) == filepath.Clean(run):
		return "by XDG_RUNTIME_DIR"
	case err == nil && info.IsDir() && own.UID(info) != os.Geteuid():
		return "XDG_RUNTIME_DIR is " + run + ", which belongs to uid " + strconv.Itoa(own.UID(info))
	}
	return "XDG_RUNTIME_DIR is " + run + ", which is no directory"
}

// Stray is an agent that runs and is listed where no router of a Home looks: its wrapper was
// started with another home, or is an older one.
type Stray struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

func (s Stray) String() string {
	return fmt.Sprintf("%s runs and is listed in %s, where nobody looks from here: "+
		"give both the same XDG_RUNTIME_DIR, or the same HOME and XDG_STATE_HOME", s.Name, s.Dir)
}

// Strays are those agents in the two usual places.
func (h Home) Strays() []Stray { return h.strays(h.Places().Others...) }

func (h Home) strays(dirs ...string) (list []Stray) {
	for _, dir := range dirs {
		if dir == h.Agents || !registry.Trusted(dir) {
			continue // there is none, or it is somebody else's
		}
		records, _ := registry.List(dir) // else nothing is told of it
		for _, r := range records {
			if r.State == "" || r.State != h.State {
				list = append(list, Stray{r.Name, dir})
			}
		}
	}
	return list
}
