package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// TestTheDescriptionIsTrue: openapi.json is what the code answers.
func TestTheDescriptionIsTrue(t *testing.T) {
	want, err := json.MarshalIndent(describe(), "", "  ")
	must(t, err)
	want = append(want, '\n')
	if *update {
		must(t, os.WriteFile("openapi.json", want, 0o644))
		return
	}
	if bytes.Contains(want, []byte(`"-"`)) {
		t.Error("it has a field that is never encoded")
	}
	if !bytes.Equal(description, want) {
		t.Error("openapi.json is not what the code answers; go test ./cmd/relay/internal/api -update writes it anew")
	}
}

// object is one of JSON.
type object = map[string]any

// describe is the API as an OpenAPI document.
func describe() object {
	types := object{}
	paths := object{}
	all := append(endpoints[:len(endpoints):len(endpoints)],
		endpoint{"GET /v1/events", "What happened after a cursor; waits where there is nothing. With Accept: text/event-stream, all that comes.", eventsQuery, nil, Events{}, nil})
	for _, e := range all {
		method, path, _ := strings.Cut(e.pattern, " ")
		says := object{
			"summary": e.does,
			"responses": object{
				"200":     object{"description": "the answer, with the epoch of the log", "content": withEpoch(types, e.out)},
				"default": object{"description": "why not", "content": content(types, router.ErrorValue{})},
			},
		}
		if e.in != nil {
			says["requestBody"] = object{"required": true, "content": content(types, e.in)}
		}
		var parameters []object
		for part := range strings.SplitSeq(path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok {
				parameters = append(parameters, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
			}
		}
		for _, p := range e.query {
			parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.says, "schema": object{"type": p.kind}})
		}
		if parameters != nil {
			says["parameters"] = parameters
		}
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[strings.ToLower(method)] = says
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "relay", "version": "1",
			"description": "The router's API, on its Unix socket. An agent says who it is by its token: Authorization: Bearer $RELAY_TOKEN.",
		},
		"paths":      paths,
		"components": object{"schemas": types},
	}
}

func withEpoch(types object, of any) object {
	epoch := object{"type": "object", "properties": object{"epoch": object{"type": "string"}}, "required": []string{"epoch"}}
	return object{"application/json": object{"schema": object{"allOf": []object{schema(types, reflect.TypeOf(of)), epoch}}}}
}

func content(types object, of any) object {
	return object{"application/json": object{"schema": schema(types, reflect.TypeOf(of))}}
}

// schema describes a type; a struct that has a name stands in types.
func schema(types object, of reflect.Type) object {
	if of == reflect.TypeFor[protocol.OrNull]() {
		return object{"type": []string{"string", "null"}}
	}
	switch of.Kind() {
	case reflect.Pointer:
		return schema(types, of.Elem())
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": schema(types, of.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Struct:
	default:
		panic(of)
	}
	if of.Name() == "" {
		return object{"type": "object"}
	}
	if types[of.Name()] == nil {
		properties, required := object{}, []string{}
		types[of.Name()] = object{} // it may hold itself
		fields(types, of, func(name string, s object, always bool) {
			if properties[name] = s; always {
				required = append(required, name)
			}
		})
		types[of.Name()] = object{"type": "object", "properties": properties, "required": required}
	}
	return object{"$ref": "#/components/schemas/" + of.Name()}
}

// fields tells each field of a struct, those of embedded ones included.
func fields(types object, of reflect.Type, tell func(name string, s object, always bool)) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue // it never leaves the program
		}
		if f.Anonymous && name == "" {
			fields(types, f.Type, tell)
			continue
		}
		s := schema(types, f.Type)
		if f.Type.Kind() == reflect.Pointer && options == "" {
			s = object{"oneOf": []object{s, {"type": "null"}}}
		}
		tell(name, s, options == "")
	}
}

// TestTheDescriptionIsServed by the router itself.
func TestTheDescriptionIsServed(t *testing.T) {
	r := start(t)
	answer, err := r.http.Get("http://router/v1/openapi.json")
	must(t, err)
	defer answer.Body.Close()
	var got struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || answer.StatusCode != http.StatusOK || got.OpenAPI != "3.1.0" {
		t.Fatalf("%s, %v, %+v", answer.Status, err, got)
	}
	for _, e := range endpoints {
		method, path, _ := strings.Cut(e.pattern, " ")
		if got.Paths[path][strings.ToLower(method)] == nil {
			t.Errorf("%s is missing", e.pattern)
		}
	}
}
