package rig

import "strings"

// Look is a way to run an agent in which it draws otherwise.
type Look struct {
	Name       string
	Args       []string // behind its own
	Env        []string
	Change     Change   // of its home; nil: none
	Keys       []string // once it is ready, these keys lead into it one after another …
	Back       []string // … and these out of it
	Rows, Cols int      // of its terminal; 0: the usual
	Told       string   // it gets no message, and this is in what people are told; "": it gets them
}

// Set writes settings of the look into a file of JSON in the home: each name is a path of keys,
// parted by points.
func Set(name string, settings Object) Change {
	return Edits(name, func(v Object) {
		for path, value := range settings {
			put(v, path, value)
		}
	})
}

// put sets what a path of keys leads to.
func put(v Object, path string, value any) {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		v[key] = value
		return
	}
	inner, is := v[key].(Object)
	if !is {
		inner = Object{}
		v[key] = inner
	}
	put(inner, rest, value)
}
