package tools

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// tool is one that can be called.
type tool struct {
	name, says string
	takes      *jsonschema.Schema
	call       func(ctx context.Context, d *desk, arguments json.RawMessage) (any, error)
}

// of makes a tool of a function. Its arguments are the fields of a struct, optional where they are
// omitzero, with the values of usual where they are left out.
func of[In, Out any](name, says string, usual In, f func(ctx context.Context, d *desk, in In) (Out, error)) tool {
	takes, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // a type that we wrote
	}
	t := tool{name: name, says: says, takes: takes}
	t.call = func(ctx context.Context, d *desk, arguments json.RawMessage) (any, error) {
		in := usual
		if err := t.read(arguments, &in); err != nil {
			return nil, err
		}
		out, err := f(ctx, d, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	return t
}

// read takes the arguments of a call, as strictly as the router takes requests: one that is
// misnamed must not be one that is left out. A model that cannot leave one out says null.
func (t *tool) read(arguments json.RawMessage, into any) error {
	given := map[string]jsontext.Value{}
	if len(arguments) > 0 {
		if err := strict.Unmarshal(arguments, &given); err != nil {
			return router.Refusal(protocol.BadJSON, "the arguments of %s are no JSON object: %v", t.name, err)
		}
	}
	maps.DeleteFunc(given, func(_ string, v jsontext.Value) bool { return v.Kind() == 'n' })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if t.takes.Properties[name] == nil {
			return router.Refusal(protocol.BadField, "%s has no argument %q; it takes %s", t.name, name, t.arguments())
		}
	}
	for _, name := range t.takes.Required {
		if given[name] == nil {
			return router.Refusal(protocol.MissingField, "%s needs %s; it takes %s", t.name, name, t.arguments())
		}
	}
	sound, err := strict.Marshal(given)
	if err == nil {
		err = strict.Unmarshal(sound, into)
	}
	var wrong *strict.SemanticError
	if errors.As(err, &wrong) {
		name := strings.TrimPrefix(string(wrong.JSONPointer), "/")
		if p := t.takes.Properties[name]; p != nil {
			return router.Refusal(protocol.BadField, "%s of %s is to be of the type %s, and is %s", name, t.name, p.Type, given[name])
		}
	}
	if err != nil {
		return router.Refusal(protocol.BadField, "the arguments of %s: %v", t.name, err)
	}
	return nil
}

// arguments names them all, and says which may be left out.
func (t *tool) arguments() string {
	if len(t.takes.PropertyOrder) == 0 {
		return "none"
	}
	var list []string
	for _, name := range t.takes.PropertyOrder {
		if !slices.Contains(t.takes.Required, name) {
			name += "?"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}
